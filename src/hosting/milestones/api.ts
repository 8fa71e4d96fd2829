import { checkChangeable, checkEnabled } from '#hosting/issues/rights.ts'
import { LabelSchema, labelJson } from '#hosting/labels/json.ts'
import { created, del, get, group, listOf, paged, patch, post } from '#http/endpoint.ts'
import { choice } from '#http/input.ts'
import { Nothing } from '#http/serialization.ts'
import { invalid } from '#platform/errors.ts'
import { parseIsoDate } from '#platform/iso-date.ts'
import { type Static, Type } from '#platform/schema.ts'
import { MilestoneSchema, milestoneJson } from './json.ts'
import { listMilestoneLabels, listMilestones, loadMilestone } from './milestones.ts'
import { createMilestone, deleteMilestone, updateMilestone } from './update.ts'

const reading = { permission: 'issues:read', viewer: 'optional', optional_scopes: ['repo'] } as const
const writing = { permission: 'issues:write', scopes: ['public_repo', 'repo'], access: 'push' } as const
const Title = Type.String({ maxLength: 255 })
const options = Type.Partial(
  Type.Object({
    state: Type.Unsafe<'open' | 'closed'>({ type: 'string', enum: ['open', 'closed'] }),
    description: Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 65_536 }),
    due_on: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  }),
)

function plain({ state, description, due_on }: Static<typeof options>) {
  return {
    ...(state && { state }),
    ...(description !== undefined && { description }),
    ...(due_on !== undefined && { due_on: due_on ? readDue(due_on) : null }),
  }
}

function readDue(due_on: string) {
  const moment = parseIsoDate(due_on)
  if (!moment) throw invalid({ resource: 'Milestone', code: 'invalid', field: 'due_on' })
  return moment
}

export const api = group('Milestones', [
  get(
    '/repos/{owner}/{repo}/milestones',
    {
      ...reading,
      operation: 'issues/list-milestones',
      summary: 'List the milestones of a repository, by due date',
      query: { state: choice('open', 'closed', 'all'), sort: choice('due_on', 'completeness'), direction: choice('asc', 'desc') },
      ...listOf(MilestoneSchema),
    },
    async ({ db, repo, query, page, wire }) => {
      checkEnabled(repo)
      return paged(await listMilestones(db, repo, query, page), (row) => milestoneJson(row, repo, wire))
    },
  ),
  post(
    '/repos/{owner}/{repo}/milestones',
    {
      ...writing,
      operation: 'issues/create-milestone',
      summary: 'Create a milestone',
      body: Type.Object({ title: Title, ...options.properties }),
      answers: { 201: MilestoneSchema },
    },
    async ({ db, repo, viewer, body, wire }) => {
      checkChangeable(repo)
      const milestone = await createMilestone(db, repo, viewer, { ...plain(body), title: body.title })
      return created(milestoneJson(milestone, repo, wire))
    },
  ),
  get(
    '/repos/{owner}/{repo}/milestones/{milestone_number}',
    { ...reading, operation: 'issues/get-milestone', summary: 'Get a milestone', answers: { 200: MilestoneSchema } },
    async ({ db, repo, params, wire }) => {
      checkEnabled(repo)
      return milestoneJson(await loadMilestone(db, repo, params.milestone_number), repo, wire)
    },
  ),
  patch(
    '/repos/{owner}/{repo}/milestones/{milestone_number}',
    {
      ...writing,
      operation: 'issues/update-milestone',
      summary: 'Change, close or reopen a milestone',
      body: Type.Object({ title: Type.Optional(Title), ...options.properties }),
      answers: { 200: MilestoneSchema },
    },
    async ({ db, repo, viewer, params, body, wire }) => {
      checkChangeable(repo)
      const milestone = await loadMilestone(db, repo, params.milestone_number)
      const changes = { ...plain(body), ...(body.title !== undefined && { title: body.title }) }
      return milestoneJson(await updateMilestone(db, repo, viewer, milestone, changes), repo, wire)
    },
  ),
  del(
    '/repos/{owner}/{repo}/milestones/{milestone_number}',
    {
      ...writing,
      operation: 'issues/delete-milestone',
      summary: 'Delete a milestone; its issues remain',
      answers: { 204: Nothing },
    },
    async ({ db, repo, viewer, params }) => {
      checkChangeable(repo)
      await deleteMilestone(db, repo, viewer, await loadMilestone(db, repo, params.milestone_number))
    },
  ),
  get(
    '/repos/{owner}/{repo}/milestones/{milestone_number}/labels',
    {
      ...reading,
      operation: 'issues/list-labels-for-milestone',
      summary: 'List the labels of the issues of a milestone',
      ...listOf(LabelSchema),
    },
    async ({ db, repo, params, page, wire }) => {
      checkEnabled(repo)
      const milestone = await loadMilestone(db, repo, params.milestone_number)
      return paged(await listMilestoneLabels(db, milestone, page), (label) => labelJson(label, repo, wire))
    },
  ),
])
