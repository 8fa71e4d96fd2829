import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { PullSchema, pullJson } from '#hosting/pulls/json.ts'
import { loadPull } from '#hosting/pulls/pulls.ts'
import { TeamSchema, teamJson } from '#hosting/teams/json.ts'
import { Answer, del, get, group, post } from '#http/endpoint.ts'
import { type Static, Type } from '#platform/schema.ts'
import { requestReviews, withdrawRequests } from './requests.ts'

const path = '/repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers'
const writing = { permission: 'pull_requests:write', scopes: ['public_repo', 'repo'], access: 'triage', writable: true } as const

const Names = Type.Array(Type.String({ maxLength: 255 }), { maxItems: 100 })
const Reviewers = Type.Partial(Type.Object({ reviewers: Names, team_reviewers: Names }))
const named = ({ reviewers = [], team_reviewers = [] }: Static<typeof Reviewers>) => ({ reviewers, team_reviewers })

export const api = group('Review requests', [
  get(
    path,
    {
      operation: 'pulls/list-requested-reviewers',
      permission: 'pull_requests:read',
      summary: 'List the users and teams whose review is requested and pending',
      viewer: 'optional',
      optional_scopes: ['repo'],
      answers: {
        200: Type.Object({ users: Type.Array(SimpleUser), teams: Type.Array(TeamSchema) }, { title: 'PullRequestReviewRequest' }),
      },
    },
    async ({ db, caller, repo, params, wire }) => {
      const { requested_reviewers, requested_teams } = await loadPull(db, repo, params.pull_number, caller)
      return {
        users: requested_reviewers.map((user) => userJson(user, wire)),
        teams: requested_teams.map((team) => teamJson(team, wire)),
      }
    },
  ),
  post(
    path,
    {
      ...writing,
      operation: 'pulls/request-reviewers',
      summary: 'Request reviews from users and teams with access',
      body: Reviewers,
      answers: { 201: PullSchema },
    },
    async ({ db, caller, repo, viewer, params, body, wire }) => {
      const pull = await requestReviews(db, caller, repo, viewer, params.pull_number, named(body))
      return new Answer(pullJson(pull, repo, wire, true), { status: 201 })
    },
  ),
  del(
    path,
    {
      ...writing,
      operation: 'pulls/remove-requested-reviewers',
      summary: 'Remove review requests',
      body: Reviewers,
      answers: { 200: PullSchema },
    },
    async ({ db, caller, repo, viewer, params, body, wire }) =>
      pullJson(await withdrawRequests(db, caller, repo, viewer, params.pull_number, named(body)), repo, wire, true),
  ),
])
