import { NamedLabels, namesOf } from '#hosting/labels/json.ts'
import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { created, del, get, group, listOf, paged, patch, post, put } from '#http/endpoint.ts'
import { choice, text } from '#http/input.ts'
import { Nothing } from '#http/serialization.ts'
import { invalid, missing } from '#platform/errors.ts'
import { type Static, Type } from '#platform/schema.ts'
import { isAssignable, listAssignable } from './assignees.ts'
import { type Issue, listIssues, loadIssue } from './issues.ts'
import { IssueSchema, issueJson } from './json.ts'
import { checkChangeable, checkEnabled, checkTokenIncludes } from './rights.ts'
import { addAssignees, removeAssignees } from './triage.ts'
import { createIssue, setLock, triageIssue, updateIssue } from './update.ts'

const reading = { permission: 'issues:read', viewer: 'optional', optional_scopes: ['repo'] } as const
const writing = { permission: 'issues:write', scopes: ['public_repo', 'repo'] } as const
const changing = { ...writing, writable: true } as const
const Title = Type.Unsafe<string | number>({ type: ['string', 'integer'], maxLength: 256 })
const Logins = Type.Array(Type.String(), { maxItems: 100 })

const options = {
  body: Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 65_536 }),
  assignee: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  assignees: Logins,
  milestone: Type.Unsafe<string | number | null>({ type: ['string', 'integer', 'null'] }),
  labels: NamedLabels,
}
const sent = Type.Partial(Type.Object(options))
export const filters = {
  state: choice('open', 'closed', 'all'),
  labels: text(),
  sort: choice('created', 'updated', 'comments'),
  direction: choice('desc', 'asc'),
  since: text(),
}

/** Clients send one assignee or a list, labels as names or objects, and a milestone's number as a number or text. */
function plain({ assignee, assignees, milestone, labels, body }: Static<typeof sent>) {
  const logins = assignees ?? (assignee === undefined ? undefined : assignee ? [assignee] : [])
  return {
    ...(body !== undefined && { body }),
    ...(logins && { assignees: logins }),
    ...(labels && { labels: namesOf(labels) }),
    ...(milestone !== undefined && { milestone: milestone === null || milestone === '' ? null : numberOf(milestone) }),
  }
}

function numberOf(milestone: string | number) {
  if (!/^\d{1,9}$/.test(String(milestone))) throw invalid({ resource: 'Issue', code: 'invalid', field: 'milestone' })
  return Number(milestone)
}

export const api = group('Issues', [
  get(
    '/repos/{owner}/{repo}/issues',
    {
      ...reading,
      operation: 'issues/list-for-repo',
      summary: 'List the issues of a repository, newest first by default',
      query: { ...filters, creator: text(), mentioned: text(), assignee: text(), milestone: text() },
      ...listOf(IssueSchema),
    },
    async ({ db, repo, query, page, wire }) => {
      checkEnabled(repo)
      return paged(await listIssues(db, repo, query, page), (issue) => issueJson(issue, repo, wire))
    },
  ),
  post(
    '/repos/{owner}/{repo}/issues',
    {
      ...writing,
      operation: 'issues/create',
      summary: 'Open an issue; labels, assignees and a milestone need triage access and are ignored without it',
      body: Type.Object({ title: Title, ...sent.properties }),
      answers: { 201: IssueSchema },
    },
    async ({ db, caller, repo, viewer, body, wire }) => {
      checkChangeable(repo)
      await checkTokenIncludes(db, caller, repo)
      const wanted = { ...plain(body), title: String(body.title) }
      const made = await createIssue(db, caller, repo, viewer, wanted)
      const { labels = [], assignees = [], milestone = null } = wanted
      const isWhole = !labels.length && !assignees.length && milestone === null
      return created(issueJson(isWhole ? made : await loadIssue(db, repo, made.number), repo, wire))
    },
  ),
  get(
    '/repos/{owner}/{repo}/issues/{issue_number}',
    { ...reading, operation: 'issues/get', summary: 'An issue', answers: { 200: IssueSchema } },
    async ({ db, repo, params, wire }) => issueJson(await loadIssue(db, repo, params.issue_number), repo, wire),
  ),
  patch(
    '/repos/{owner}/{repo}/issues/{issue_number}',
    {
      ...changing,
      operation: 'issues/update',
      summary: 'Change, close or reopen an issue, as its author or with triage access',
      body: Type.Partial(
        Type.Object({
          title: Title,
          state: Type.Unsafe<'open' | 'closed'>({ type: 'string', enum: ['open', 'closed'] }),
          state_reason: Type.Unsafe<'completed' | 'not_planned' | 'duplicate' | 'reopened' | null>({
            type: ['string', 'null'],
            enum: ['completed', 'not_planned', 'duplicate', 'reopened', null],
          }),
          ...options,
        }),
      ),
      answers: { 200: IssueSchema },
    },
    async ({ db, caller, repo, viewer, params, body, wire }) => {
      const { title, state, state_reason } = body
      const changes = {
        ...plain(body),
        ...(title !== undefined && { title: String(title) }),
        ...(state && { state }),
        ...(state_reason && { state_reason }),
      }
      return issueJson(await updateIssue(db, caller, repo, viewer, params.issue_number, changes), repo, wire)
    },
  ),
  put(
    '/repos/{owner}/{repo}/issues/{issue_number}/lock',
    {
      ...changing,
      operation: 'issues/lock',
      summary: 'Lock an issue: only users with push access can comment',
      access: 'push',
      body: Type.Partial(
        Type.Object({
          lock_reason: Type.Unsafe<string | null>({
            type: ['string', 'null'],
            enum: ['off-topic', 'too heated', 'resolved', 'spam', null],
          }),
        }),
      ),
      answers: { 204: Nothing },
    },
    ({ db, repo, viewer, params, body }) => setLock(db, repo, viewer, params.issue_number, true, body.lock_reason ?? null),
  ),
  del(
    '/repos/{owner}/{repo}/issues/{issue_number}/lock',
    { ...changing, operation: 'issues/unlock', summary: 'Unlock an issue', access: 'push', answers: { 204: Nothing } },
    ({ db, repo, viewer, params }) => setLock(db, repo, viewer, params.issue_number, false, null),
  ),
  get(
    '/repos/{owner}/{repo}/assignees',
    {
      ...reading,
      operation: 'issues/list-assignees',
      summary: 'List users who can be assigned; with triage access, everyone with access by name',
      ...listOf(SimpleUser),
    },
    async ({ db, repo, page, wire }) => paged(await listAssignable(db, repo, page), (user) => userJson(user, wire)),
  ),
  get(
    '/repos/{owner}/{repo}/assignees/{assignee}',
    {
      ...reading,
      operation: 'issues/check-user-can-be-assigned',
      summary: 'Check whether a user can be assigned: 204 or 404',
      answers: { 204: Nothing },
    },
    async ({ db, repo, params }) => {
      if (!(await isAssignable(db, repo, params.assignee))) throw missing()
    },
  ),
  get(
    '/repos/{owner}/{repo}/issues/{issue_number}/assignees/{assignee}',
    {
      ...reading,
      operation: 'issues/check-user-can-be-assigned-to-issue',
      summary: 'Check whether a user can be assigned to an issue: 204 or 404',
      answers: { 204: Nothing },
    },
    async ({ db, repo, params }) => {
      await loadIssue(db, repo, params.issue_number)
      if (!(await isAssignable(db, repo, params.assignee))) throw missing()
    },
  ),
  post(
    '/repos/{owner}/{repo}/issues/{issue_number}/assignees',
    {
      ...changing,
      operation: 'issues/add-assignees',
      summary: 'Assign up to ten users to an issue; users who cannot be assigned are ignored',
      access: 'triage',
      body: Type.Object({ assignees: Logins }),
      answers: { 201: IssueSchema },
    },
    async ({ db, repo, viewer, params, body, wire }) => {
      const number = params.issue_number
      const add = (held: Issue) => addAssignees(db, repo, held, body.assignees)
      return issueJson(await triageIssue(db, repo, viewer, number, add), repo, wire)
    },
  ),
  del(
    '/repos/{owner}/{repo}/issues/{issue_number}/assignees',
    {
      ...changing,
      operation: 'issues/remove-assignees',
      summary: 'Remove assignees from an issue',
      access: 'triage',
      body: Type.Object({ assignees: Logins }),
      answers: { 200: IssueSchema },
    },
    async ({ db, repo, viewer, params, body, wire }) => {
      const number = params.issue_number
      const remove = (held: Issue) => removeAssignees(db, held, body.assignees)
      return issueJson(await triageIssue(db, repo, viewer, number, remove), repo, wire)
    },
  ),
])
