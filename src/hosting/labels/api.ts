import { type Issue, loadIssue } from '#hosting/issues/issues.ts'
import { addLabels, removeLabel, setLabels } from '#hosting/issues/triage.ts'
import { triageIssue } from '#hosting/issues/update.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { Answer, created, del, get, group, listOf, paged, patch, post, put } from '#http/endpoint.ts'
import { Nothing, type Wire } from '#http/serialization.ts'
import { Type } from '#platform/schema.ts'
import { LabelSchema, labelJson, NamedLabels, namesOf } from './json.ts'
import { listLabels, loadLabel } from './labels.ts'
import { createLabel, deleteLabel, updateLabel } from './update.ts'

const reading = { permission: 'issues:read', viewer: 'optional', optional_scopes: ['repo'] } as const
const writing = { writable: true, permission: 'issues:write', scopes: ['public_repo', 'repo'] } as const

const looks = Type.Partial(
  Type.Object({
    color: Type.String(),
    description: Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 100 }),
  }),
).properties
const Labels = Type.Array(LabelSchema)

const labelsOf = ({ labels }: Issue, repo: Repository, wire: Wire) => labels.map((label) => labelJson(label, repo, wire))

export const api = group('Labels', [
  get(
    '/repos/{owner}/{repo}/labels',
    {
      ...reading,
      operation: 'issues/list-labels-for-repo',
      summary: 'List the labels of a repository',
      ...listOf(LabelSchema),
    },
    async ({ db, repo, page, wire }) => paged(await listLabels(db, repo, page), (label) => labelJson(label, repo, wire)),
  ),
  post(
    '/repos/{owner}/{repo}/labels',
    {
      ...writing,
      operation: 'issues/create-label',
      summary: 'Create a label',
      access: 'push',
      body: Type.Object({ name: Type.String(), ...looks }),
      answers: { 201: LabelSchema },
    },
    async ({ db, repo, viewer, body, wire }) => created(labelJson(await createLabel(db, repo, viewer, body), repo, wire)),
  ),
  get(
    '/repos/{owner}/{repo}/labels/{name}',
    { ...reading, operation: 'issues/get-label', summary: 'Get a label', answers: { 200: LabelSchema } },
    async ({ db, repo, params, wire }) => labelJson(await loadLabel(db, repo, params.name), repo, wire),
  ),
  patch(
    '/repos/{owner}/{repo}/labels/{name}',
    {
      ...writing,
      operation: 'issues/update-label',
      summary: 'Change a label, on every issue that has it',
      access: 'push',
      body: Type.Object({ new_name: Type.Optional(Type.String()), ...looks }),
      answers: { 200: LabelSchema },
    },
    async ({ db, repo, viewer, params, body: { new_name, ...rest }, wire }) => {
      const changes = { ...rest, ...(new_name !== undefined && { name: new_name }) }
      const label = await loadLabel(db, repo, params.name)
      return labelJson(await updateLabel(db, repo, viewer, label, changes), repo, wire)
    },
  ),
  del(
    '/repos/{owner}/{repo}/labels/{name}',
    { ...writing, operation: 'issues/delete-label', summary: 'Delete a label', access: 'push', answers: { 204: Nothing } },
    async ({ db, repo, viewer, params }) => deleteLabel(db, repo, viewer, await loadLabel(db, repo, params.name)),
  ),
  get(
    '/repos/{owner}/{repo}/issues/{issue_number}/labels',
    {
      ...reading,
      operation: 'issues/list-labels-on-issue',
      summary: 'List the labels of an issue',
      ...listOf(LabelSchema),
    },
    async ({ db, repo, params, page, wire }) => {
      const issue = await loadIssue(db, repo, params.issue_number)
      // An issue has at most a hundred labels, and they were read with it.
      const rows = labelsOf(issue, repo, wire)
      return new Answer(rows.slice(page.offset, page.offset + page.limit), { total: rows.length })
    },
  ),
  post(
    '/repos/{owner}/{repo}/issues/{issue_number}/labels',
    {
      ...writing,
      operation: 'issues/add-labels',
      summary: 'Add labels to an issue; missing labels are created with push access',
      access: 'triage',
      body: Type.Object({ labels: NamedLabels }),
      array_field: 'labels',
      answers: { 200: Labels },
    },
    async ({ db, repo, viewer, params, body, wire }) => {
      const add = (held: Issue) => addLabels(db, repo, viewer, held, namesOf(body.labels))
      return labelsOf(await triageIssue(db, repo, viewer, params.issue_number, add), repo, wire)
    },
  ),
  put(
    '/repos/{owner}/{repo}/issues/{issue_number}/labels',
    {
      ...writing,
      operation: 'issues/set-labels',
      summary: 'Replace the labels of an issue',
      access: 'triage',
      body: Type.Partial(Type.Object({ labels: NamedLabels })),
      array_field: 'labels',
      answers: { 200: Labels },
    },
    async ({ db, repo, viewer, params, body, wire }) => {
      const set = (held: Issue) => setLabels(db, repo, viewer, held, namesOf(body.labels ?? []))
      return labelsOf(await triageIssue(db, repo, viewer, params.issue_number, set), repo, wire)
    },
  ),
  del(
    '/repos/{owner}/{repo}/issues/{issue_number}/labels',
    {
      ...writing,
      operation: 'issues/remove-all-labels',
      summary: 'Remove all labels from an issue',
      access: 'triage',
      answers: { 204: Nothing },
    },
    async ({ db, repo, viewer, params }) => {
      await triageIssue(db, repo, viewer, params.issue_number, (held) => setLabels(db, repo, viewer, held, []))
    },
  ),
  del(
    '/repos/{owner}/{repo}/issues/{issue_number}/labels/{name}',
    {
      ...writing,
      operation: 'issues/remove-label',
      summary: 'Remove a label from an issue',
      access: 'triage',
      answers: { 200: Labels },
    },
    async ({ db, repo, viewer, params, wire }) => {
      const remove = (held: Issue) => removeLabel(db, repo, held, params.name)
      return labelsOf(await triageIssue(db, repo, viewer, params.issue_number, remove), repo, wire)
    },
  ),
])
