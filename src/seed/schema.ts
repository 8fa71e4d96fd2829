import { accessNames } from '#identity/access.ts'
import { longestPassword, shortestPassword } from '#identity/passwords.ts'

/** The part of JSON Schema that the format needs. `errorMessage` is what editors and we say when `pattern` does not match. */
export interface Schema {
  $ref?: string
  type?: Type | Type[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: false | Schema
  items?: Schema
  minItems?: number
  maxItems?: number
  enum?: readonly string[]
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  pattern?: string
  errorMessage?: string
  description?: string
}
export type Type = 'string' | 'integer' | 'boolean' | 'array' | 'object' | 'null'

/** In UTF-16 units, as JSON Schema counts them closely enough. */
const [shortText, longText, fileText] = [1000, 65_536, 1 << 20]
/** Items of one list. */
const mostItems = 20_000

const text = (maxLength = shortText): Schema => ({ type: 'string', minLength: 1, maxLength })
const matching = (pattern: RegExp, errorMessage: string): Schema => ({ ...text(), pattern: pattern.source, errorMessage })
const oneOf = (...values: string[]): Schema => ({ type: 'string', enum: values })
const list = (items: Schema, minItems = 0): Schema => ({
  type: 'array',
  items,
  maxItems: mostItems,
  ...(minItems && { minItems }),
})
const listOf = (name: string) => list({ $ref: `#/$defs/${name}` })
const title = text(256)
const flag: Schema = { type: 'boolean' }
const body: Schema = { type: 'string', maxLength: longText }
const date = matching(
  /^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)?)?$/,
  'must be a date such as 2026-03-01 or 2026-03-01T12:00:00Z',
)
const login = matching(
  /^[A-Za-z0-9](?:[A-Za-z0-9]|-(?=[A-Za-z0-9])){0,38}$/,
  'must be a login: up to 39 letters, digits and single hyphens',
)
const fullName = matching(/^[A-Za-z0-9-]+\/[\w.-]+$/, 'must be owner/name, such as acme/rocket')
const address = matching(/^https?:\/\/[^\s]+$/, 'must be an http or https address')
const permission = oneOf(...accessNames.filter((name) => !['read', 'write'].includes(name)))

const password: Schema = { type: 'string', minLength: shortestPassword, maxLength: longestPassword }

/** Names of required keys have a `!`. */
function object(keys: Record<string, Schema>): Schema {
  const entries = Object.entries(keys)
  const required = entries.filter(([key]) => key.endsWith('!')).map(([key]) => key.slice(0, -1))
  const properties = Object.fromEntries(entries.map(([key, schema]) => [key.replace('!', ''), schema]))
  return { type: 'object', additionalProperties: false, ...(required.length && { required }), properties }
}

const files = (type: Type | Type[]): Schema => ({ type: 'object', additionalProperties: { type, maxLength: fileText } })

const client = { client_id: text(100), client_secret: text(200) }

/** Of the same names as the types in format.ts and repository-format.ts; a test compares them. */
export const definitions: Record<string, Schema> = {
  Seed: object({
    start: date,
    users: listOf('SeedUser'),
    organizations: listOf('SeedOrganization'),
    repositories: listOf('SeedRepository'),
    oauth_applications: listOf('SeedOAuthApplication'),
    apps: listOf('SeedApp'),
  }),
  SeedUser: object({
    ...{ 'login!': login, name: text(), email: text(), password, bio: text(), company: text(), location: text() },
    ...{ site_admin: flag, tokens: { ...listOf('SeedToken'), minItems: 1 }, follows: list(login) },
  }),
  SeedToken: object({
    'name!': text(),
    value: matching(/^[\x21-\x7e]{8,255}$/, 'must have 8 to 255 visible characters of ASCII'),
    scopes: list(text()),
  }),
  SeedOrganization: object({
    ...{ 'login!': login, name: text(), description: text(), 'owners!': list(login, 1), members: list(login) },
    default_permission: oneOf('none', 'read', 'write', 'admin'),
    ...{ teams: listOf('SeedTeam'), hooks: listOf('SeedHook') },
  }),
  SeedTeam: object({
    ...{ 'name!': text(), description: text(), privacy: oneOf('closed', 'secret') },
    ...{ maintainers: list(login), members: list(login), repositories: listOf('SeedTeamRepository') },
  }),
  SeedTeamRepository: object({ 'name!': fullName, permission }),
  SeedRepository: object({
    ...{ 'name!': fullName, at: date, fork_of: fullName, description: text(), homepage: text(), private: flag },
    ...{ default_branch: text(200), topics: list(text()), files: files('string'), commits: listOf('SeedCommit') },
    ...{ tags: listOf('SeedTag'), collaborators: listOf('SeedCollaborator'), labels: listOf('SeedLabel') },
    ...{ milestones: listOf('SeedMilestone'), issues: listOf('SeedIssue'), pull_requests: listOf('SeedPullRequest') },
    ...{
      releases: listOf('SeedRelease'),
      protected_branches: listOf('SeedProtectedBranch'),
      stargazers: list(login),
      watchers: list(login),
      hooks: listOf('SeedHook'),
    },
  }),
  SeedCommit: object({
    ...{ 'message!': text(longText), 'files!': files(['string', 'null']), branch: text(200), from: text(200) },
    ...{ author: text(), at: date },
  }),
  SeedTag: object({ 'name!': text(200), branch: text(200), at: date }),
  SeedCollaborator: object({ 'login!': login, permission }),
  SeedLabel: object({
    'name!': text(50),
    color: matching(/^[0-9A-Fa-f]{6}$/, 'must be six hexadecimal digits without #'),
    description: text(),
  }),
  SeedMilestone: object({ 'title!': title, description: body, due_on: date, state: oneOf('open', 'closed') }),
  SeedIssue: object({
    ...{ 'title!': title, body, author: login, at: date, labels: list(text()), assignees: list(login), milestone: text() },
    ...{ comments: listOf('SeedComment'), state: oneOf('open', 'closed'), state_reason: oneOf('completed', 'not_planned') },
    ...{ closed_by: login, closed_at: date },
  }),
  SeedComment: object({ author: login, 'body!': text(longText), at: date }),
  SeedPullRequest: object({
    ...{ 'title!': title, body, author: login, at: date, 'head!': text(250), base: text(200), draft: flag },
    ...{ labels: list(text()), assignees: list(login), milestone: text(), reviewers: list(login) },
    ...{ reviews: listOf('SeedReview'), comments: listOf('SeedComment'), state: oneOf('open', 'closed', 'merged') },
    ...{ merge_method: oneOf('merge', 'squash', 'rebase'), closed_by: login, closed_at: date },
  }),
  SeedReview: object({
    ...{ 'author!': login, 'state!': oneOf('approved', 'changes_requested', 'commented'), body, at: date },
    comments: listOf('SeedReviewComment'),
  }),
  SeedReviewComment: object({ 'path!': text(), 'line!': { type: 'integer', minimum: 1 }, 'body!': text(longText) }),
  SeedRelease: object({
    ...{ 'tag_name!': text(200), name: text(), body, author: login, draft: flag, prerelease: flag, at: date },
  }),
  SeedProtectedBranch: object({
    ...{ 'branch!': text(200), required_approvals: { type: 'integer', minimum: 0, maximum: 6 }, required_checks: list(text()) },
    enforce_admins: flag,
  }),
  SeedHook: object({
    ...{ 'url!': address, events: list(text()), secret: text(), content_type: oneOf('json', 'form'), active: flag },
  }),
  SeedOAuthApplication: object({ 'name!': text(100), 'owner!': login, url: address, 'callback_url!': text(500), ...client }),
  SeedApp: object({
    ...{ 'name!': text(34), 'owner!': login, url: address, description: text(), callback_url: text(500) },
    permissions: { type: 'object', additionalProperties: oneOf('read', 'write', 'admin') },
    ...{ events: list(text()), webhook_url: address, webhook_secret: text(), ...client, private_key: text(10_000) },
    installations: listOf('SeedInstallation'),
  }),
  SeedInstallation: object({ 'account!': login, repositories: list(fullName) }),
}

/** Follows a reference to a definition. */
export const resolve = (schema: Schema): Schema =>
  schema.$ref ? (definitions[schema.$ref.slice('#/$defs/'.length)] ?? {}) : schema
