import { isIPv4, isIPv6 } from 'node:net'
import { readBlock, unmapped } from './outbound/addresses.ts'

/**
 * The key of rate limits: an IPv4 address, or the /64 of an IPv6 address, because a host can use all addresses of its /64. An IPv4-mapped
 * address counts as its IPv4 address. A client that has disconnected has no address any more, whatever the type of a request says: all of
 * these share a key.
 */
export function networkOf(address: string | undefined): string {
  if (address === undefined) return ''
  if (isIPv4(address)) return address
  const read = isIPv6(address) && readBlock(address.replace(/%.*$/s, ''))
  // A proxy may send any text as an address.
  if (!read) return address.replaceAll('\0', '').slice(0, 100)
  const { bits, value } = unmapped(read)
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.')
  const groups = [112n, 96n, 80n, 64n].map((shift) => ((value >> shift) & 0xffffn).toString(16))
  return `${groups.join(':')}::/64`
}
