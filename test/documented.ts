import assert from 'node:assert/strict'
import { Contract, type VariantName } from './activity/schemas.ts'
import type { Client, Person } from './forge.ts'

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** A request, its body if it has one, and the operation whose documentation the response must match. */
export type Visit = [operation: string, method: Method, path: string, body?: object | undefined]

/** The same with the status that the response must have. */
export type StatusVisit = [operation: string, status: number, method: Method, path: string, body?: object]

/** A contract takes long to parse, so all tests of a process share it. */
const contracts = new Map<VariantName, Contract>()

function contractOf(variant: VariantName) {
  const contract = contracts.get(variant) ?? Contract.of(variant)
  contracts.set(variant, contract)
  return contract
}

const clientOf = (person: Person, variant: VariantName): Client =>
  (variant === 'versioned' ? person.versioned : person).with({ accept: 'application/vnd.github+json' })

/** Sends a request and compares its response with the public documentation of the variant. */
async function check(client: Client, variant: VariantName, [operation, method, path, body]: Visit, status?: number) {
  const answer = await client[method](path, body as Record<string, unknown>)
  const text = await answer.text()
  assert.ok(status === undefined ? answer.ok : answer.status === status, `${operation} ${path}: ${answer.status} ${text}`)
  if (text === '') return undefined
  const found = JSON.parse(text)
  assert.deepEqual(contractOf(variant).check(operation, answer.status, 'application/json', found), [], text.slice(0, 500))
  return found
}

/** Sends each request to one variant. A list must not be empty. */
export async function assertDocumented(person: Person, variant: VariantName, visits: Visit[]) {
  const client = clientOf(person, variant)
  for (const visit of visits) {
    const found = await check(client, variant, visit)
    if (Array.isArray(found)) assert.ok(found.length > 0, `${visit[2]} shows nothing`)
  }
}

/** The same for both variants. */
export async function checkContracts(person: Person, visits: (variant: VariantName) => Visit[]) {
  for (const variant of ['self-hosted', 'versioned'] as const) await assertDocumented(person, variant, visits(variant))
}

/**
 * The same with statuses. `{name}` in a path is the field of that name in `known`; `name=` before a path stores the `id` of the response under
 * that name. Lists may be empty.
 */
export async function checkVisits(person: Person, known: Record<string, string | number>, visits: StatusVisit[]) {
  for (const variant of ['self-hosted', 'versioned'] as const) {
    const ids = { ...known }
    for (const [operation, status, method, named, body] of visits) {
      const [, store, path = ''] = /^(?:(\w+)=)?(.*)$/s.exec(named) ?? []
      const address = path.replaceAll(/\{(\w+)\}/g, (_, field) => String(ids[field]))
      const found = await check(clientOf(person, variant), variant, [operation, method, address, body], status)
      if (store) ids[store] = found.id
    }
  }
}
