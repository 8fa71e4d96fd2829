import { isIPv6 } from 'node:net'

/** Who counts as one by address: an IPv4 address, or an IPv6 network of 64 bits, because one customer has all of its addresses. */
export function addressGroup(ip: string): string {
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip) ?? []
  if (mapped) return mapped
  const plain = ip.split('%')[0] ?? ''
  if (!isIPv6(plain)) return ip
  const [head = '', tail] = plain.split('::')
  const words = (text: string) => (text ? text.split(':').flatMap((word) => (word.includes('.') ? [word, word] : word)) : [])
  const [first, last] = [words(head), words(tail ?? '')]
  const zeros = tail === undefined ? [] : Array<string>(8 - first.length - last.length).fill('0')
  const network = [...first, ...zeros, ...last].slice(0, 4).map((word) => Number.parseInt(word, 16).toString(16))
  return `${network.join(':')}::/64`
}
