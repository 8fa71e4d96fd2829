import type { Repository } from '#hosting/repositories/repositories.ts'
import { Answer, created, del, get, group, listOf, paged, post } from '#http/endpoint.ts'
import { text } from '#http/input.ts'
import { Nothing } from '#http/serialization.ts'
import type { Caller } from '#identity/callers.ts'
import { allows } from '#identity/permissions.ts'
import { Refusal } from '#platform/errors.ts'
import { parseJson } from '#platform/json.ts'
import { Type } from '#platform/schema.ts'
import { isWebAddress } from '#platform/web-address.ts'
import {
  createDeployment,
  deleteDeployment,
  listDeployments,
  listEnvironments,
  loadDeployment,
  loadEnvironment,
} from './deployments.ts'
import {
  DeploymentSchema,
  DeploymentStatusSchema,
  deploymentJson,
  deploymentStatusJson,
  EnvironmentSchema,
  environmentJson,
} from './json.ts'
import {
  createDeploymentStatus,
  type DeploymentState,
  deploymentStates,
  listDeploymentStatuses,
  loadDeploymentStatus,
} from './statuses.ts'

const reading = {
  permission: 'deployments:read',
  viewer: 'optional',
  optional_scopes: ['repo', 'repo_deployment'],
  sees_private: 'repo_deployment',
} as const
const writing = {
  permission: 'deployments:write',
  scopes: ['public_repo', 'repo', 'repo_deployment'],
  sees_private: 'repo_deployment',
  access: 'push',
  writable: true,
} as const
const Name = Type.String({ minLength: 1, maxLength: 255 })
const Words = (maxLength: number) => Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength }))
const Merged = Type.Object({ message: Type.String() }, { title: 'MergedBranch' })
const longestPayload = 65_536

/** Text that is a JSON object is read as one, as on the public host. */
function readPayload(payload: object | string | null | undefined): object | string {
  if (payload == null || payload === '') return {}
  if (typeof payload !== 'string') return payload
  try {
    const read: unknown = parseJson(payload)
    return typeof read === 'object' && read !== null && !Array.isArray(read) ? read : payload
  } catch {
    return payload
  }
}

/** An automatic merge is a push, which needs more than the right to deploy. */
function mayMerge({ token, may }: Caller, { private: hidden }: Repository) {
  if (token?.kind === 'fine_grained') return allows(token.permissions, 'contents:write')
  return may(hidden ? 'repo' : 'public_repo')
}

function checkAddress(field: string, address: string): string {
  if (address === '' || isWebAddress(address)) return address
  throw new Refusal('invalid', `${field} must be an http or https address.`)
}

export const api = group('Deployments', [
  get(
    '/repos/{owner}/{repo}/deployments',
    {
      ...reading,
      operation: 'repos/list-deployments',
      summary: 'List deployments, newest first',
      query: { sha: text(), ref: text(), task: text(), environment: text() },
      ...listOf(DeploymentSchema),
    },
    async ({ db, repo, query, page, wire }) =>
      paged(await listDeployments(db, repo, query, page), (deployment) => deploymentJson(deployment, repo, wire)),
  ),
  post(
    '/repos/{owner}/{repo}/deployments',
    {
      ...writing,
      operation: 'repos/create-deployment',
      refuses: ['conflict'],
      summary: 'Ask for a branch, a tag or a commit to be deployed',
      body: Type.Object({
        ref: Name,
        task: Type.Optional(Name),
        auto_merge: Type.Optional(Type.Boolean()),
        required_contexts: Type.Optional(Type.Unsafe<string[] | null>({ type: ['array', 'null'], items: Name, maxItems: 100 })),
        payload: Type.Optional(Type.Unsafe<object | string | null>({ type: ['object', 'string', 'null'] })),
        environment: Type.Optional(Name),
        description: Words(140),
        transient_environment: Type.Optional(Type.Boolean()),
        production_environment: Type.Optional(Type.Boolean()),
      }),
      own_transaction: true,
      answers: { 201: DeploymentSchema, 202: Merged },
    },
    async ({ db, storage, caller, repo, viewer, body, wire }) => {
      const { ref, task = 'deploy', environment = 'production', description = '', auto_merge = true } = body
      const payload = readPayload(body.payload)
      if (JSON.stringify(payload).length > longestPayload)
        throw new Refusal('invalid', `The payload has more than ${longestPayload} characters.`)
      const { transient_environment = false, production_environment = environment === 'production' } = body
      const required_contexts = body.required_contexts ?? undefined
      const may_merge = mayMerge(caller, repo)
      const options = { transient_environment, production_environment, auto_merge, may_merge, required_contexts }
      const wanted = { ref, task, environment, description, payload, ...options }
      const made = await createDeployment(db, storage, repo, viewer, wanted)
      return 'message' in made ? new Answer(made, { status: 202 }) : created(deploymentJson(made, repo, wire))
    },
  ),
  get(
    '/repos/{owner}/{repo}/deployments/{deployment_id}',
    { ...reading, operation: 'repos/get-deployment', summary: 'Get a deployment', answers: { 200: DeploymentSchema } },
    async ({ db, repo, params, wire }) => deploymentJson(await loadDeployment(db, repo, params.deployment_id), repo, wire),
  ),
  del(
    '/repos/{owner}/{repo}/deployments/{deployment_id}',
    {
      ...writing,
      operation: 'repos/delete-deployment',
      summary: 'Delete a deployment that is inactive, or the only one',
      answers: { 204: Nothing },
    },
    ({ db, repo, params }) => deleteDeployment(db, repo, params.deployment_id),
  ),
  get(
    '/repos/{owner}/{repo}/deployments/{deployment_id}/statuses',
    {
      ...reading,
      operation: 'repos/list-deployment-statuses',
      summary: 'List the statuses of a deployment, newest first',
      ...listOf(DeploymentStatusSchema),
    },
    async ({ db, repo, params, page, wire }) => {
      const deployment = await loadDeployment(db, repo, params.deployment_id)
      return paged(await listDeploymentStatuses(db, deployment, page), (status) => deploymentStatusJson(status, repo, wire))
    },
  ),
  post(
    '/repos/{owner}/{repo}/deployments/{deployment_id}/statuses',
    {
      ...writing,
      operation: 'repos/create-deployment-status',
      summary: 'Report how a deployment goes',
      body: Type.Object({
        state: Type.Unsafe<DeploymentState>({ type: 'string', enum: deploymentStates }),
        target_url: Words(2000),
        log_url: Words(2000),
        description: Words(140),
        environment: Type.Optional(Name),
        environment_url: Words(2000),
        auto_inactive: Type.Optional(Type.Boolean()),
      }),
      answers: { 201: DeploymentStatusSchema },
    },
    async ({ db, repo, viewer, params, body, wire }) => {
      const wanted = {
        state: body.state,
        description: body.description ?? '',
        environment: body.environment,
        environment_url: checkAddress('environment_url', body.environment_url ?? ''),
        log_url: checkAddress('log_url', body.log_url || body.target_url || ''),
        auto_inactive: body.auto_inactive ?? true,
      }
      const made = await createDeploymentStatus(db, repo, viewer, params.deployment_id, wanted)
      return created(deploymentStatusJson(made, repo, wire))
    },
  ),
  get(
    '/repos/{owner}/{repo}/deployments/{deployment_id}/statuses/{status_id}',
    {
      ...reading,
      operation: 'repos/get-deployment-status',
      summary: 'Get a status of a deployment',
      answers: { 200: DeploymentStatusSchema },
    },
    async ({ db, repo, params, wire }) => {
      const deployment = await loadDeployment(db, repo, params.deployment_id)
      return deploymentStatusJson(await loadDeploymentStatus(db, deployment, params.status_id), repo, wire)
    },
  ),
  get(
    '/repos/{owner}/{repo}/environments',
    {
      ...reading,
      operation: 'repos/get-all-environments',
      summary: 'List the environments that deployments have named',
      list: true,
      answers: {
        200: Type.Object({ total_count: Type.Integer(), environments: Type.Array(EnvironmentSchema) }, { title: 'Environments' }),
      },
    },
    async ({ db, repo, page, wire }) => {
      const { rows, total } = await listEnvironments(db, repo, page)
      const environments = rows.map((environment) => environmentJson(environment, repo, wire))
      return new Answer({ total_count: total, environments }, { total })
    },
  ),
  get(
    '/repos/{owner}/{repo}/environments/{environment_name}',
    {
      ...reading,
      operation: 'repos/get-environment',
      summary: 'Get an environment',
      answers: { 200: EnvironmentSchema },
    },
    async ({ db, repo, params, wire }) => environmentJson(await loadEnvironment(db, repo, params.environment_name), repo, wire),
  ),
])
