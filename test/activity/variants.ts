import type { Client, Forge, Person } from '#test/forge.ts'
import type { VariantName } from './schemas.ts'

export const second = 1000
export const day = 86_400 * second

export interface Variant {
  name: VariantName
  base(forge: Forge): string
  as(person: Person): Client
  nobody(forge: Forge): Client
  /** How long an event is kept from everyone's timeline, in milliseconds. */
  delay: number
}

export const variants: Variant[] = [
  {
    name: 'self-hosted',
    base: ({ web }) => `${web}/api/v3`,
    as: (person) => person,
    nobody: ({ nobody }) => nobody,
    delay: 300 * second,
  },
  {
    name: 'versioned',
    base: ({ versioned }) => versioned,
    as: ({ versioned }) => versioned,
    nobody: ({ nobodyVersioned }) => nobodyVersioned,
    delay: 30 * second,
  },
]

export interface Told {
  type: string | null
  actor: { login: string }
  repo: { name: string }
  org?: { login: string }
  payload: { ref?: string; ref_type?: string; action?: string; member?: { login: string }; release?: { tag_name: string } }
  public: boolean
}

/** An event in a line. */
export function tell({ actor, type, payload, repo, org, public: open }: Told) {
  const ref = payload.ref_type === 'repository' ? undefined : payload.ref?.replace('refs/heads/', '')
  const about = [ref, payload.member?.login, payload.release?.tag_name].filter(Boolean)
  return [actor.login, type, ...about, 'in', repo.name, ...(org ? [`(${org.login})`] : []), ...(open ? [] : ['privately'])].join(
    ' ',
  )
}
