import { isIPv4, isIPv6 } from 'node:net'
import { readBlock, unmapped } from './outbound/addresses.ts'

/** A host can use all addresses of its /64. A subscriber usually has a /56 or a /48, and a provider a /32. */
const prefixes = [64, 56, 48, 32] as const

/**
 * The factor from each prefix to the next larger one. What is open at the same time comes out of one total of the process. What is counted
 * over time grows faster, because the many customers of a provider share its /32.
 */
const growth = { open: 2, counted: 4 }

export interface NetworkLimit {
  network: string
  most: number
}

/** The limits that hold for an address, of which one network may have `most`. All of them must have room before any of them counts. */
export function networkLimits(address: string | undefined, most: number, kind: keyof typeof growth): NetworkLimit[] {
  return networksOf(address).map((network, step) => ({ network, most: most * growth[kind] ** step }))
}

/** The smallest network of an address, which is one caller. */
export function networkOf(address: string | undefined): string {
  return networksOf(address)[0] ?? ''
}

/**
 * The networks that count a caller, the smallest first: an IPv4 address, or the prefixes of an IPv6 address. An IPv4-mapped address counts as
 * its IPv4 address. Addresses that are not public have a /64 only, because the whole /48 is one site's own. A client that has disconnected has
 * no address, whatever the type of a request says: all of these share a key.
 */
export function networksOf(address: string | undefined): string[] {
  if (address === undefined) return ['']
  if (isIPv4(address)) return [address]
  const read = isIPv6(address) && readBlock(address.replace(/%.*$/s, ''))
  // A proxy may send any text as an address.
  if (!read) return [address.replaceAll('\0', '').slice(0, 100)]
  const { bits, value } = unmapped(read)
  if (bits === 32) return [[24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.')]
  const isPublic = value >> 125n === 1n
  return (isPublic ? prefixes : prefixes.slice(0, 1)).map((length) => prefixOf(value, length))
}

function prefixOf(value: bigint, length: number) {
  const shift = BigInt(128 - length)
  const first = (value >> shift) << shift
  const groups = [112n, 96n, 80n, 64n].slice(0, Math.ceil(length / 16)).map((at) => ((first >> at) & 0xffffn).toString(16))
  return `${groups.join(':')}::/${length}`
}
