import { loadCommitComment } from '#hosting/commit-comments/commit-comments.ts'
import { loadComment } from '#hosting/issues/comments/comments.ts'
import { loadIssue } from '#hosting/issues/issues.ts'
import { loadRelease } from '#hosting/releases/releases.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { loadReviewComment } from '#hosting/reviews/comments/comments.ts'
import { Answer, del, get, group, listOf, paged, post } from '#http/endpoint.ts'
import { choice } from '#http/input.ts'
import { Nothing } from '#http/serialization.ts'
import type { Permission } from '#identity/permissions.ts'
import type { Queryable } from '#platform/database.ts'
import { Type } from '#platform/schema.ts'
import { ReactionSchema, reactionJson } from './json.ts'
import { type Content, contents, deleteReaction, listReactions, react, type Subject } from './reactions.ts'

interface ReactionTarget {
  /** The word of the operations, and of the one that deletes. */
  noun: string
  deleted?: string
  path: string
  permission: 'issues' | 'pull_requests' | 'contents'
  contents: readonly Content[]
  load(db: Queryable, repo: Repository, viewer: { id: number } | null, params: Params): Promise<Subject>
}

interface Params {
  issue_number: number
  comment_id: number
  release_id: number
}

const targets: ReactionTarget[] = [
  {
    noun: 'issue',
    path: 'issues/{issue_number}',
    permission: 'issues',
    contents,
    load: async (db, repo, _, { issue_number }) => {
      const { id, locked } = await loadIssue(db, repo, issue_number)
      return { column: 'issue_id', id, locked }
    },
  },
  {
    noun: 'issue-comment',
    path: 'issues/comments/{comment_id}',
    permission: 'issues',
    contents,
    load: async (db, repo, _, { comment_id }) => {
      const { id, issue_number } = await loadComment(db, repo, comment_id)
      return { column: 'comment_id', id, locked: (await loadIssue(db, repo, issue_number)).locked }
    },
  },
  {
    noun: 'pull-request-review-comment',
    deleted: 'pull-request-comment',
    path: 'pulls/comments/{comment_id}',
    permission: 'pull_requests',
    contents,
    load: async (db, repo, viewer, { comment_id }) => {
      const { id, pull_number } = await loadReviewComment(db, repo, viewer, comment_id)
      return { column: 'review_comment_id', id, locked: (await loadIssue(db, repo, pull_number)).locked }
    },
  },
  {
    noun: 'commit-comment',
    path: 'comments/{comment_id}',
    permission: 'contents',
    contents,
    load: async (db, repo, _, { comment_id }) => ({
      column: 'commit_comment_id',
      id: (await loadCommitComment(db, repo, comment_id)).id,
      locked: false,
    }),
  },
  {
    noun: 'release',
    path: 'releases/{release_id}',
    permission: 'contents',
    contents: ['+1', 'laugh', 'heart', 'hooray', 'rocket', 'eyes'],
    load: async (db, repo, _, { release_id }) => ({
      column: 'release_id',
      id: (await loadRelease(db, repo, release_id, false)).id,
      locked: false,
    }),
  },
]

/** The type checker reads the names in a path; here all paths have these, and one that says of which text. */
type Path = '/repos/{owner}/{repo}/{reaction_id}'

const endpointsOf = ({ noun, deleted = noun, path, permission, contents: allowed, load }: ReactionTarget) => {
  const all = `/repos/{owner}/{repo}/${path}/reactions`
  const words = noun.replaceAll('-', ' ')
  const reading = { permission: `${permission}:read` as Permission, viewer: 'optional', optional_scopes: ['repo'] } as const
  const writing = {
    permission: `${permission}:write` as Permission,
    scopes: ['public_repo', 'repo'],
    writable: true,
  } as const
  const subjectOf = (db: Queryable, repo: Repository, viewer: { id: number } | null, params: object) =>
    load(db, repo, viewer, params as Params)
  return [
    get(
      all as Path,
      {
        ...reading,
        operation: `reactions/list-for-${noun}`,
        summary: `List the reactions to a ${words}, oldest first`,
        query: { content: choice('', ...contents) },
        ...listOf(ReactionSchema),
      },
      async ({ db, repo, viewer, params, query, page, wire }) =>
        paged(await listReactions(db, await subjectOf(db, repo, viewer, params), query.content, page), (row) =>
          reactionJson(row, wire),
        ),
    ),
    post(
      all as Path,
      {
        ...writing,
        operation: `reactions/create-for-${noun}`,
        summary: `React to a ${words}: 201, or 200 if the caller has reacted in this way before`,
        body: Type.Object({ content: Type.Unsafe<Content>({ type: 'string', enum: allowed }) }),
        answers: { 200: ReactionSchema, 201: ReactionSchema },
      },
      async ({ db, repo, viewer, params, body, wire }) => {
        const subject = await subjectOf(db, repo, viewer, params)
        const { reaction, added } = await react(db, repo, viewer, subject, body.content)
        return new Answer(reactionJson(reaction, wire), { status: added ? 201 : 200 })
      },
    ),
    del(
      `${all}/{reaction_id}` as Path,
      {
        ...writing,
        operation: `reactions/delete-for-${deleted}`,
        summary: `Delete a reaction of one's own to a ${words}`,
        answers: { 204: Nothing },
      },
      async ({ db, repo, viewer, params }) =>
        deleteReaction(db, viewer, await subjectOf(db, repo, viewer, params), params.reaction_id),
    ),
  ]
}

export const api = group('Reactions', targets.flatMap(endpointsOf))
