import assert from 'node:assert/strict'
import { Contract } from '#test/activity/schemas.ts'
import type { Client, Person } from '#test/forge.ts'

export type Visit = [operation: string, method: 'get' | 'post' | 'put' | 'patch' | 'delete', path: string, body?: object]

/** Sends requests on both variants. Every response must succeed and match the public documentation. */
export async function checkContracts(person: Person, visits: (variant: 'self-hosted' | 'versioned') => Visit[]) {
  for (const name of ['self-hosted', 'versioned'] as const) {
    const contract = new Contract(name)
    const speaker: Client = name === 'versioned' ? person.versioned : person
    const client = speaker.with({ accept: 'application/vnd.github+json' })
    const faults: string[] = []
    for (const [operation, method, path, body] of visits(name)) {
      const answer = await client[method](path, body as Record<string, unknown>)
      const found = await answer.json()
      assert.ok(answer.ok, `${operation}: ${answer.status} ${JSON.stringify(found)}`)
      if (Array.isArray(found)) assert.ok(found.length > 0, `${path} shows nothing`)
      const wrong = contract.check(operation, answer.status, 'application/json', found)
      faults.push(...wrong.map(({ path, message }) => `${operation} ${path} ${message}`))
    }
    assert.deepEqual([...new Set(faults)], [])
  }
}
