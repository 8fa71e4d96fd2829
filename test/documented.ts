import assert from 'node:assert/strict'
import { Contract, type VariantName } from './activity/schemas.ts'
import type { Person } from './forge.ts'

/** A contract takes long to parse, so all tests of a process share it. */
const contracts = new Map<VariantName, Contract>()

function contractOf(variant: VariantName) {
  const contract = contracts.get(variant) ?? new Contract(variant)
  contracts.set(variant, contract)
  return contract
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** A request, its body if it has one, and the operation whose documentation the response must match. */
export type Visit = [operation: string, method: Method, path: string, body?: Record<string, unknown>]

/** Sends each request and compares its response with the public documentation of the variant. A list must not be empty. */
export async function assertDocumented(person: Person, variant: VariantName, visits: Visit[]) {
  const client = (variant === 'versioned' ? person.versioned : person).with({ accept: 'application/vnd.github+json' })
  for (const [operation, method, path, body] of visits) {
    const answer = await client[method](path, body)
    const text = await answer.text()
    assert.ok(answer.ok, `${operation}: ${answer.status} ${text}`)
    if (text === '') continue
    const found = JSON.parse(text)
    if (Array.isArray(found)) assert.ok(found.length > 0, `${path} shows nothing`)
    assert.deepEqual(contractOf(variant).check(operation, answer.status, 'application/json', found), [], text.slice(0, 500))
  }
}
