import { loadIssue, loadIssues } from '#hosting/issues/issues.ts'
import { get, group, listOf, paged } from '#http/endpoint.ts'
import { missing } from '#platform/errors.ts'
import { listIssueEvents, listRepositoryEvents, loadIssueEvent } from './events.ts'
import {
  IssueEventSchema,
  issueEventJson,
  RepositoryIssueEventSchema,
  repositoryIssueEventJson,
  TimelineEventSchema,
  timelineEventJson,
} from './json.ts'
import { listTimeline } from './timelines.ts'

const reading = { permission: 'issues:read', viewer: 'optional', optional_scopes: ['repo'] } as const

export const api = group('Issue events', [
  get(
    '/repos/{owner}/{repo}/issues/events',
    {
      ...reading,
      operation: 'issues/list-events-for-repo',
      summary: 'List the history events of all issues and pull requests of a repository, newest first',
      ...listOf(RepositoryIssueEventSchema),
    },
    async ({ db, caller, repo, page, wire }) => {
      const { rows, total } = await listRepositoryEvents(db, caller, repo, page)
      const issues = await loadIssues(db, [...new Set(rows.map(({ issue_id }) => issue_id))])
      const found = new Map(issues.map((issue) => [issue.id, issue]))
      const entries = rows.flatMap((event) => {
        const issue = found.get(event.issue_id)
        return issue ? [{ event, issue }] : []
      })
      return paged({ rows: entries, total }, ({ event, issue }) => repositoryIssueEventJson(event, issue, repo, wire))
    },
  ),
  get(
    '/repos/{owner}/{repo}/issues/events/{event_id}',
    {
      ...reading,
      operation: 'issues/get-event',
      summary: 'Get a history event of an issue or pull request',
      answers: { 200: RepositoryIssueEventSchema },
    },
    async ({ db, caller, repo, params, wire }) => {
      const event = await loadIssueEvent(db, caller, repo, params.event_id)
      const [issue] = await loadIssues(db, [event.issue_id])
      if (!issue) throw missing()
      return repositoryIssueEventJson(event, issue, repo, wire)
    },
  ),
  get(
    '/repos/{owner}/{repo}/issues/{issue_number}/events',
    {
      ...reading,
      operation: 'issues/list-events',
      summary: 'List the history events of an issue, oldest first',
      ...listOf(IssueEventSchema),
    },
    async ({ db, caller, repo, params, page, wire }) => {
      const issue = await loadIssue(db, repo, params.issue_number)
      return paged(await listIssueEvents(db, caller, issue, page), (event) => issueEventJson(event, repo, wire))
    },
  ),
  get(
    '/repos/{owner}/{repo}/issues/{issue_number}/timeline',
    {
      ...reading,
      operation: 'issues/list-events-for-timeline',
      summary: 'List the timeline of an issue, oldest first: comments, reviews and history events',
      ...listOf(TimelineEventSchema),
    },
    async ({ db, caller, repo, params, page, wire }) => {
      const issue = await loadIssue(db, repo, params.issue_number)
      return paged(await listTimeline(db, caller, issue, page), (entry) => timelineEventJson(entry, repo, wire))
    },
  ),
])
