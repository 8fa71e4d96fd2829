import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { StartError } from '#platform/errors.ts'
import {
  type AddressClass,
  type Block,
  hasLooseBits,
  holds,
  isWrapping,
  type Judgement,
  judge,
  readBlock,
  unmapped,
} from './addresses.ts'

/** The addresses that Belfry may connect to for its users. */
export interface Policy {
  readonly rules: Rules
  allowsAddress(host: string, ip: string): boolean
  /** The reason why this address of a host is refused; undefined if it is allowed. */
  whyNot(host: string, ip: string): string | undefined
}

interface Rules {
  classes: ReadonlySet<AddressClass>
  hosts: readonly RegExp[]
  blocks: readonly Block[]
}

const named = ['external', 'private', 'loopback'] as const

/** What a policy may contain. */
export const policyWords =
  'external, private, loopback, host names such as ci.corp.example or *.corp.example, addresses, and CIDR ranges such as 10.0.0.0/8'

/** Parses a setting such as `external, *.corp.example, 10.1.0.0/16`. The default is `external`. */
export function readPolicy(text: string, setting = 'The address policy'): Policy {
  const rules = { classes: new Set<AddressClass>(), hosts: [] as RegExp[], blocks: [] as Block[] }
  const words = text.split(/[\s,]+/).filter((word) => word !== '')
  for (const word of words.length > 0 ? words : ['external']) {
    const wrong = (why: string) => new StartError(`${setting} has ${JSON.stringify(word)}: ${why}.`)
    const of = named.find((name) => name === word.toLowerCase())
    const block = readBlock(word)
    const host = readHost(word)
    if (of) rules.classes.add(of)
    else if (block) rules.blocks.push(checked(unmapped(block), wrong))
    else if (host) rules.hosts.push(host)
    else throw wrong(`it may hold ${policyWords}`)
  }
  return policyOf(rules)
}

function checked(block: Block, wrong: (why: string) => StartError) {
  if (hasLooseBits(block))
    throw wrong(`a range begins with its first address, and this one has bits after its first ${block.length}`)
  // The rule would never apply.
  if (isWrapping(block)) throw wrong('these addresses are judged by the IPv4 address in them, so name that')
  return block
}

/**
 * A host name must contain a dot (`ci.` is the host `ci`), to tell it from a misspelt word. A star cannot be the last label, because that
 * label determines the owner.
 */
function readHost(word: string) {
  if (/[^\p{L}\p{M}\p{N}.*_-]/u.test(word)) return undefined
  const name = domainToASCII(word)
  if (!/^([a-z0-9*_-]{1,63}\.)+$/.test(name.replace(/\.?$/, '.')) || !name.includes('.')) return undefined
  const bare = withoutDot(name)
  const end = bare.slice(bare.lastIndexOf('.') + 1)
  if (end.includes('*') || /^(\d+|0x[0-9a-f]*)$/.test(end)) return undefined
  const pattern = bare.replace(/\*+/g, '*').replaceAll('.', '\\.').replaceAll('*', '.*')
  return new RegExp(`^${pattern}$`)
}

/** Whether only this machine can reach a listener at this address. */
export const isLocal = (host: string) =>
  host === 'localhost' || (isIP(host) > 0 && judge(host).every((judgement) => judgement.class === 'loopback'))

/** A server that only its own machine can reach may connect to that machine. */
export const policyFor = (host: string, policy: Policy): Policy => (isLocal(host) ? withLoopback(policy) : policy)

export function withLoopback({ rules }: Policy): Policy {
  return policyOf({ ...rules, classes: new Set([...rules.classes, 'loopback']) })
}

function policyOf(rules: Rules): Policy {
  const refusedOf = (host: string, ip: string) => {
    const byName = isNamed(rules, host)
    return judge(ip).find((judgement) => !isAllowed(rules, byName, judgement))
  }
  return {
    rules,
    allowsAddress: (host, ip) => refusedOf(host, ip) === undefined,
    whyNot: (host, ip) => {
      const refused = refusedOf(host, ip)
      // The address of a name is not shown, because names of a private network are confidential.
      return refused && (isIP(host) ? `${host} is ${refused.words}` : `${withoutDot(host)} has ${refused.words}`)
    },
  }
}

/** No pattern matches a literal address, because its last label is neither a star nor a number. */
function isNamed({ hosts }: Rules, host: string) {
  const name = withoutDot(host.toLowerCase())
  return hosts.some((pattern) => pattern.test(name))
}

/** Only a range inside a forbidden range allows its addresses: 0.0.0.0/0 does not allow the metadata service. */
function isAllowed({ classes, blocks }: Rules, byName: boolean, { class: of, address, range }: Judgement) {
  if (!address || !range) return false
  if (of !== 'forbidden' && (byName || classes.has(of))) return true
  return blocks.some((block) => holds(block, address) && (of !== 'forbidden' || block.length >= range.length))
}

export function withoutDot(host: string) {
  return host.endsWith('.') ? host.slice(0, -1) : host
}
