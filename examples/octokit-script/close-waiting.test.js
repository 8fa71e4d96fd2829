import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { Octokit } from '@octokit/rest'
import { startBelfry } from 'belfry/testing'
import { closeWaiting } from './close-waiting.js'

let server
let octokit
const rocket = { owner: 'dana', repo: 'rocket', now: new Date('2026-06-01') }

before(async () => {
  server = await startBelfry({ seed: join(import.meta.dirname, '../seed.yaml'), clock: '2026-06-01T00:00:00Z' })
  octokit = new Octokit({ ...server.users.dana.octokitOptions, log: { debug() {}, info() {}, warn() {}, error() {} } })
})
beforeEach(() => server.reset())
after(() => server.close())

test('an issue that waits for a month is closed with a reason', async () => {
  assert.deepEqual(await closeWaiting(octokit, rocket), [2])
  const { data: issue } = await octokit.issues.get({ ...rocket, issue_number: 2 })
  assert.deepEqual([issue.state, issue.state_reason, issue.comments], ['closed', 'not_planned', 2])
})

test('a second run changes nothing', async () => {
  await closeWaiting(octokit, rocket)
  await server.requests.clear()
  assert.deepEqual(await closeWaiting(octokit, rocket), [])
  await server.requests.assertCount(0, { method: 'POST' })
  await server.requests.assertCount(0, { method: 'PATCH' })
})

test('an issue that cannot be commented on stays open', async () => {
  await server.fault({ match: { method: 'POST', path: '/repos/*/*/issues/*/comments' }, status: 502 })
  await assert.rejects(closeWaiting(octokit, rocket), { status: 502 })
  const { data: issue } = await octokit.issues.get({ ...rocket, issue_number: 2 })
  assert.equal(issue.state, 'open')
})
