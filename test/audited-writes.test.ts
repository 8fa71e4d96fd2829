import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { rightsTables } from './audit.ts'

/** Files that change rights without a record in the audit log, and why. */
const exempt: Record<string, string> = {
  'src/identity/tokens.ts': 'its callers record the act; the token of the operator comes from a setting',
  'src/identity/callers.ts': 'notes when a token was used',
  'src/identity/recovery-codes.ts': 'its callers record the act',
  'src/setup.ts': 'removes the token of an unset setting at the start',
  'src/parts/oauth/codes.ts': 'a replayed code ends the tokens that it gave',
  'src/parts/oauth/refresh-tokens.ts': 'a token that is refreshed keeps its rights',
  'src/parts/apps/installations/tokens.ts': 'an app makes a token every hour, with what was granted to it',
  'src/parts/apps/installations/api.ts': 'a token of an hour ends itself',
  'src/parts/webhooks/pauses.ts': 'a pause follows from an act that is recorded',
  'src/parts/webhooks/restored.ts': 'the commands of operators record it',
  'src/parts/webhooks/throttling.ts': 'the state of deliveries',
  'src/parts/webhooks/sending/outcomes.ts': 'the state of deliveries',
  'src/hosting/repositories/repositories.ts': 'the creator of a repository is its admin',
  'src/hosting/repositories/transfers.ts': 'follows from a transfer, which is recorded',
  'src/hosting/people/people.ts': 'a new organization has its creator as an owner',
}

const records = /\b(?:recordAudit|recordPublished|publish|publishInOrganization)\(/
const writes = new RegExp(`\\b(?:insert into|update|delete from) (?:${Object.keys(rightsTables).join('|')})\\b`)

test('a file that changes rights records it in the audit log, or says why not', () => {
  const files = globSync('src/**/*.ts', { exclude: ['src/**/*.test.ts', 'src/demo/**', 'src/seed/**', 'src/testing/**'] })
  const writing = files.filter((file) => writes.test(readFileSync(file, 'utf8')))
  assert.ok(writing.length > 20, 'the pattern finds statements')
  const silent = writing.filter((file) => !records.test(readFileSync(file, 'utf8')))
  assert.deepEqual(
    silent.filter((file) => !(file in exempt)),
    [],
  )
  assert.deepEqual(
    Object.keys(exempt).filter((file) => !writing.includes(file)),
    [],
    'these change no rights any more',
  )
})
