import { CheckSuiteSchema, checkSuiteJson } from '#hosting/checks/json.ts'
import { setPreferences } from '#hosting/checks/preferences.ts'
import { createSuite, listSuites, loadSuite, readHead, rerequestSuite } from '#hosting/checks/suites.ts'
import { findCommit } from '#hosting/refs/commits.ts'
import { MinimalRepository, minimalRepositoryJson } from '#hosting/repositories/json.ts'
import { Answer, get, group, patch, post } from '#http/endpoint.ts'
import { text } from '#http/input.ts'
import { Type } from '#platform/schema.ts'

const reading = { permission: 'checks:read', viewer: 'optional', optional_scopes: ['repo'] } as const
const writing = { permission: 'checks:write', access: 'push', writable: true, own_transaction: true } as const
const SuitesSchema = Type.Object(
  { total_count: Type.Integer(), check_suites: Type.Array(CheckSuiteSchema) },
  { title: 'CheckSuites' },
)

const Preference = Type.Object({ app_id: Type.Integer({ minimum: 1, maximum: 2 ** 53 - 1 }), setting: Type.Boolean() })
const PreferencesSchema = Type.Object(
  {
    preferences: Type.Object({ auto_trigger_checks: Type.Array(Preference) }),
    repository: MinimalRepository,
  },
  { title: 'CheckSuitePreferences' },
)

export const api = group('Check suites', [
  post(
    '/repos/{owner}/{repo}/check-suites',
    {
      ...writing,
      viewer: 'installation',
      operation: 'checks/create-suite',
      summary: 'Create the check suite of a commit; 200 if it has one',
      body: Type.Object({ head_sha: Type.String() }),
      answers: { 200: CheckSuiteSchema, 201: CheckSuiteSchema },
    },
    async ({ db, storage, repo, viewer, body, wire }) => {
      const { suite, made } = await createSuite(db, storage, repo, viewer, body.head_sha)
      const json = checkSuiteJson(suite, await readHead(storage, repo, suite.head_sha), repo, wire)
      return new Answer(json, made ? { status: 201, headers: { Location: json.url } } : { status: 200 })
    },
  ),
  patch(
    '/repos/{owner}/{repo}/check-suites/preferences',
    {
      operation: 'checks/set-suites-preferences',
      permission: 'checks:write',
      scopes: ['public_repo', 'repo'],
      access: 'admin',
      summary: 'Set which apps are asked to check each push',
      body: Type.Object({ auto_trigger_checks: Type.Optional(Type.Array(Preference, { maxItems: 100 })) }),
      answers: { 200: PreferencesSchema },
    },
    async ({ db, repo, body, wire }) => {
      const auto_trigger_checks = await setPreferences(db, repo, body.auto_trigger_checks ?? [])
      return { preferences: { auto_trigger_checks }, repository: minimalRepositoryJson(repo, wire) }
    },
  ),
  get(
    '/repos/{owner}/{repo}/check-suites/{check_suite_id}',
    { ...reading, operation: 'checks/get-suite', summary: 'Get a check suite', answers: { 200: CheckSuiteSchema } },
    async ({ db, storage, repo, params, wire }) => {
      const suite = await loadSuite(db, repo, params.check_suite_id)
      return checkSuiteJson(suite, await readHead(storage, repo, suite.head_sha), repo, wire)
    },
  ),
  post(
    '/repos/{owner}/{repo}/check-suites/{check_suite_id}/rerequest',
    {
      ...writing,
      scopes: ['public_repo', 'repo'],
      operation: 'checks/rerequest-suite',
      summary: 'Ask for the checks of a suite to be run again',
      answers: { 201: Type.Object({}, { title: 'EmptyObject' }) },
    },
    async ({ db, storage, repo, viewer, params }) => {
      await rerequestSuite(db, storage, repo, viewer, params.check_suite_id)
      return new Answer({}, { status: 201 })
    },
  ),
  get(
    '/repos/{owner}/{repo}/commits/{ref+}/check-suites',
    {
      ...reading,
      operation: 'checks/list-suites-for-ref',
      refuses: ['conflict'],
      summary: 'List the check suites of a commit, newest first',
      query: { check_name: text(), app_id: text() },
      list: true,
      answers: { 200: SuitesSchema },
    },
    async ({ db, storage, repo, params, query, page, wire }) => {
      const sha = await findCommit(storage, repo, params.ref)
      const { rows, total } = await listSuites(db, repo, sha, query, page)
      const commit = await readHead(storage, repo, sha)
      const check_suites = rows.map((suite) => checkSuiteJson(suite, commit, repo, wire))
      return new Answer({ total_count: total, check_suites }, { total })
    },
  ),
])
