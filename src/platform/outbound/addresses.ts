import { isIPv4, isIPv6 } from 'node:net'

/** From the least strict to the strictest. */
const classes = ['external', 'private', 'loopback', 'forbidden'] as const
export type AddressClass = (typeof classes)[number]

interface Address {
  bits: 32 | 128
  value: bigint
}

/** The addresses that share their first `length` bits. */
export interface Block extends Address {
  length: number
}

interface Special extends Block {
  class: AddressClass
  words: string
  /** The IPv4 addresses that receive traffic to this address. */
  inside?: (value: bigint) => bigint[]
}

/** An address to check, and its range. Text that is not an address has neither. */
export interface Judgement {
  class: AddressClass
  words: string
  address?: Address
  range?: Block
}

const low32 = (value: bigint) => BigInt.asUintN(32, value)

/** IANA's special-purpose registries, and metadata services of clouds that are not link-local. The longest match counts. */
const special = [
  range('0.0.0.0/0', 'external', 'a public address'),
  range('0.0.0.0/8', 'forbidden', 'an unspecified address'),
  range('10.0.0.0/8', 'private', 'a private address'),
  range('100.64.0.0/10', 'private', 'a carrier-grade NAT address'),
  range('127.0.0.0/8', 'loopback', 'a loopback address'),
  range('169.254.0.0/16', 'forbidden', 'a link-local address'),
  range('172.16.0.0/12', 'private', 'a private address'),
  range('192.0.0.0/24', 'forbidden', 'a protocol address'),
  range('192.0.2.0/24', 'forbidden', 'a documentation address'),
  range('192.88.99.0/24', 'forbidden', 'a reserved address'),
  range('192.168.0.0/16', 'private', 'a private address'),
  range('198.18.0.0/15', 'forbidden', 'a benchmarking address'),
  range('198.51.100.0/24', 'forbidden', 'a documentation address'),
  range('203.0.113.0/24', 'forbidden', 'a documentation address'),
  range('224.0.0.0/4', 'forbidden', 'a multicast address'),
  range('240.0.0.0/4', 'forbidden', 'a reserved address'),
  range('255.255.255.255', 'forbidden', 'a broadcast address'),
  range('100.100.100.200', 'forbidden', 'a metadata address'),
  range('168.63.129.16', 'forbidden', 'a metadata address'),

  // IANA allocates only 2000::/3 to the public.
  range('::/3', 'forbidden', 'a reserved address'),
  range('2000::/3', 'external', 'a public address'),
  range('4000::/2', 'forbidden', 'a reserved address'),
  range('8000::/1', 'forbidden', 'a reserved address'),
  range('::/96', 'forbidden', 'an IPv4-compatible address'),
  range('::', 'forbidden', 'an unspecified address'),
  range('::1', 'loopback', 'a loopback address'),
  range('::ffff:0:0/96', 'external', 'an IPv4-mapped address', (value) => [low32(value)]),
  range('64:ff9b::/96', 'external', 'a NAT64 address', (value) => [low32(value)]),
  range('64:ff9b:1::/48', 'private', 'a local NAT64 address', inLocalNat64),
  range('100::/64', 'forbidden', 'a discard address'),
  range('2001::/23', 'forbidden', 'a protocol address'),
  // The server's address, and the client's with inverted bits.
  range('2001::/32', 'external', 'a Teredo address', (value) => [low32(value >> 64n), low32(~value)]),
  range('2001:2::/48', 'forbidden', 'a benchmarking address'),
  range('2001:db8::/32', 'forbidden', 'a documentation address'),
  range('2002::/16', 'external', 'a 6to4 address', (value) => [low32(value >> 80n)]),
  range('3fff::/20', 'forbidden', 'a documentation address'),
  range('fc00::/7', 'private', 'a private address'),
  range('fd00:42::42', 'forbidden', 'a metadata address'),
  range('fd00:100::100:200', 'forbidden', 'a metadata address'),
  range('fd00:a9fe:a9fe::1', 'forbidden', 'a metadata address'),
  range('fd00:c1::a9fe:a9fe', 'forbidden', 'a metadata address'),
  range('fd00:ec2::/32', 'forbidden', 'a metadata address'),
  range('fd20:ce::254', 'forbidden', 'a metadata address'),
  range('fe80::/10', 'forbidden', 'a link-local address'),
  range('fec0::/10', 'forbidden', 'a site-local address'),
  range('ff00::/8', 'forbidden', 'a multicast address'),
].sort((a, b) => b.length - a.length)

function range(text: string, of: AddressClass, words: string, inside?: Special['inside']): Special {
  const block = readBlock(text)
  if (!block) throw new TypeError(`${text} is no block`)
  return { ...block, class: of, words, ...(inside && { inside }) }
}

/**
 * A site keeps the IPv4 address in the last 32 bits, or before 24 zeros when its prefix has 64 bits (RFC 6052).
 * Shorter prefixes leave 32 zeros, which read as 0.0.0.0 and are forbidden.
 */
function inLocalNat64(value: bigint) {
  return BigInt.asUintN(24, value) ? [low32(value)] : [low32(value), low32(value >> 24n)]
}

/**
 * The class of an address: that of its range, or the strictest of the addresses embedded in it. Text that is not an address is forbidden.
 */
export function classify(ip: string): AddressClass {
  return classes[Math.max(...judge(ip).map((judgement) => classes.indexOf(judgement.class)))] ?? 'forbidden'
}

/** The addresses that a connection reaches: the address itself, or the IPv4 addresses embedded in it. */
export function judge(ip: string): Judgement[] {
  if (isIPv6(ip) && ip.includes('%')) return [{ class: 'forbidden', words: 'an address with a zone' }]
  const address = readAddress(ip)
  const found = address && rangeOf(address)
  if (!found) return [{ class: 'forbidden', words: 'no usable address' }]
  const itself = { class: found.class, words: found.words, address, range: found }
  if (!found.inside) return [itself]
  const inside = found.inside(address.value).flatMap((value) => {
    const inner = { bits: 32, value } as const
    const of = rangeOf(inner)
    return of ? [{ class: of.class, words: `${found.words} holding ${of.words}`, address: inner, range: of }] : []
  })
  // A public range that embeds IPv4 addresses adds no class of its own.
  return found.class === 'external' ? inside : [itself, ...inside]
}

/** Whether only the embedded IPv4 addresses of a block count. */
export function isWrapping(block: Block) {
  const found = rangeOf(block)
  return found?.inside !== undefined && found.class === 'external' && found.length <= block.length
}

function rangeOf(address: Address) {
  return special.find((block) => holds(block, address))
}

export function holds(block: Block, { bits, value }: Address) {
  const shift = BigInt(block.bits - block.length)
  return bits === block.bits && value >> shift === block.value >> shift
}

/** Parses `10.0.0.0/8`, `fc00::/7` or a single address. */
export function readBlock(text: string): Block | undefined {
  const [ip = '', length, ...rest] = text.split('/')
  const address = readAddress(ip)
  if (!address || rest.length > 0 || (length !== undefined && !/^(0|[1-9]\d{0,2})$/.test(length))) return undefined
  const block = { ...address, length: length === undefined ? address.bits : Number(length) }
  return block.length <= block.bits ? block : undefined
}

/** Converts a block of IPv4-mapped addresses to the block of their IPv4 addresses. */
export function unmapped(block: Block): Block {
  const mapped = block.bits === 128 && block.length >= 96 && block.value >> 32n === 0xffffn
  return mapped ? { bits: 32, value: low32(block.value), length: block.length - 96 } : block
}

/** Whether a block is not written with its first address, as 10.0.0.1/8. */
export function hasLooseBits({ bits, value, length }: Block) {
  return BigInt.asUintN(bits - length, value) !== 0n
}

function readAddress(text: string): Address | undefined {
  if (isIPv4(text)) return { bits: 32, value: BigInt(`0x${hexOf(text)}`) }
  if (!isIPv6(text) || text.includes('%')) return undefined
  const quadAt = text.includes('.') ? text.lastIndexOf(':') + 1 : text.length
  const groups = text.slice(0, quadAt) + hexOf(text.slice(quadAt)).replace(/^.{4}/, '$&:')
  const [left = [], right = []] = groups.split('::').map((part) => (part ? part.split(':') : []))
  const zeros = Array<string>(8 - left.length - right.length).fill('0')
  const digits = [...left, ...zeros, ...right].map((group) => group.padStart(4, '0'))
  return { bits: 128, value: BigInt(`0x${digits.join('')}`) }
}

function hexOf(quad: string) {
  if (quad === '') return ''
  return quad
    .split('.')
    .map((byte) => Number(byte).toString(16).padStart(2, '0'))
    .join('')
}
