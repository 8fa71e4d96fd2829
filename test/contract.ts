import assert from 'node:assert/strict'
import { Contract } from './activity/schemas.ts'
import type { Client, Person } from './forge.ts'

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
/** A request, its documented operation, and the status that it must have. */
export type Visit = [operation: string, status: number, method: Method, path: string, body?: Record<string, unknown> | unknown[]]

const contracts = new Map<string, Contract>()

/**
 * Sends the requests on both variants and holds each response against the public documentation. `{name}` in a path is the field of that name in
 * `known`; `name=` before a path stores the `id` of the response under that name.
 */
export async function checkVisits(person: Person, known: Record<string, string | number>, visits: Visit[]) {
  for (const name of ['self-hosted', 'versioned'] as const) {
    const contract = contracts.get(name) ?? new Contract(name)
    contracts.set(name, contract)
    const speaker: Client = name === 'versioned' ? person.versioned : person
    const client = speaker.with({ accept: 'application/vnd.github+json' })
    const ids: Record<string, string | number> = { ...known }
    for (const [operation, status, method, named, body] of visits) {
      const [, store, path = ''] = /^(?:(\w+)=)?(.*)$/s.exec(named) ?? []
      const address = path.replaceAll(/\{(\w+)\}/g, (_, field) => String(ids[field]))
      const answer = method === 'get' ? await client.get(address) : await client[method](address, body)
      const text = await answer.text()
      assert.equal(answer.status, status, `${name} ${method} ${address}: ${answer.status} ${text}`)
      if (text === '') continue
      const found = JSON.parse(text)
      if (store) ids[store] = found.id
      const faults = contract.check(operation, status, 'application/json', found)
      assert.deepEqual(
        faults.map((fault) => `${fault.operation} ${fault.path} ${fault.message}`),
        [],
      )
    }
  }
}
