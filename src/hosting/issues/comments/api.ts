import { loadIssue } from '#hosting/issues/issues.ts'
import { checkEnabled } from '#hosting/issues/rights.ts'
import { created, del, get, group, listOf, paged, patch, post } from '#http/endpoint.ts'
import { choice, text } from '#http/input.ts'
import { Nothing } from '#http/serialization.ts'
import { Type } from '#platform/schema.ts'
import { listComments, listRepositoryComments, loadComment } from './comments.ts'
import { CommentSchema, commentJson } from './json.ts'
import { createComment, deleteComment, updateComment } from './update.ts'

const reading = { permission: 'issues:read', viewer: 'optional', optional_scopes: ['repo'] } as const
const writing = { permission: 'issues:write', scopes: ['public_repo', 'repo'], writable: true } as const
const CommentBody = Type.Object({ body: Type.String({ maxLength: 65_536 }) })

export const api = group('Issue comments', [
  get(
    '/repos/{owner}/{repo}/issues/{issue_number}/comments',
    {
      ...reading,
      operation: 'issues/list-comments',
      summary: 'List the comments of an issue, oldest first',
      query: { since: text() },
      ...listOf(CommentSchema),
    },
    async ({ db, repo, params, query, page, wire }) => {
      const issue = await loadIssue(db, repo, params.issue_number)
      return paged(await listComments(db, issue, query.since, page), (row) => commentJson(row, repo, wire))
    },
  ),
  post(
    '/repos/{owner}/{repo}/issues/{issue_number}/comments',
    {
      ...writing,
      operation: 'issues/create-comment',
      summary: 'Comment on an issue; a locked issue needs push access',
      body: CommentBody,
      answers: { 201: CommentSchema },
    },
    async ({ db, caller, repo, viewer, params, body, wire }) => {
      const comment = await createComment(db, caller, repo, viewer, params.issue_number, body.body)
      return created(commentJson(comment, repo, wire))
    },
  ),
  get(
    '/repos/{owner}/{repo}/issues/comments',
    {
      ...reading,
      operation: 'issues/list-comments-for-repo',
      summary: 'List the comments of all issues of a repository',
      query: { sort: choice('created', 'updated'), direction: choice('', 'asc', 'desc'), since: text() },
      ...listOf(CommentSchema),
    },
    async ({ db, repo, query, page, wire }) => {
      checkEnabled(repo)
      return paged(await listRepositoryComments(db, repo, query, page), (row) => commentJson(row, repo, wire))
    },
  ),
  get(
    '/repos/{owner}/{repo}/issues/comments/{comment_id}',
    {
      ...reading,
      operation: 'issues/get-comment',
      summary: 'Get a comment of an issue',
      answers: { 200: CommentSchema },
    },
    async ({ db, repo, params, wire }) => commentJson(await loadComment(db, repo, params.comment_id), repo, wire),
  ),
  patch(
    '/repos/{owner}/{repo}/issues/comments/{comment_id}',
    {
      ...writing,
      operation: 'issues/update-comment',
      summary: 'Change a comment, as its author or with push access',
      body: CommentBody,
      answers: { 200: CommentSchema },
    },
    async ({ db, caller, repo, viewer, params, body, wire }) =>
      commentJson(await updateComment(db, caller, repo, viewer, params.comment_id, body.body), repo, wire),
  ),
  del(
    '/repos/{owner}/{repo}/issues/comments/{comment_id}',
    {
      ...writing,
      operation: 'issues/delete-comment',
      summary: 'Delete a comment, as its author or with push access',
      answers: { 204: Nothing },
    },
    ({ db, repo, viewer, params }) => deleteComment(db, repo, viewer, params.comment_id),
  ),
])
