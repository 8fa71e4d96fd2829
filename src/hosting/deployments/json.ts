import { NullableUser } from '#hosting/milestones/json.ts'
import { userJson } from '#hosting/people/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { Address, NullableString, nodeId, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Deployment, Environment } from './deployments.ts'
import type { DeploymentStatus } from './statuses.ts'

export const DeploymentSchema = Type.Object(
  {
    url: Address,
    id: Type.Integer(),
    node_id: Type.String(),
    sha: Type.String(),
    ref: Type.String(),
    task: Type.String(),
    payload: Type.Unsafe<object | string>({}),
    original_environment: Type.String(),
    environment: Type.String(),
    description: NullableString,
    creator: NullableUser,
    created_at: Timestamp,
    updated_at: Timestamp,
    statuses_url: Address,
    repository_url: Address,
    transient_environment: Type.Boolean(),
    production_environment: Type.Boolean(),
  },
  { title: 'Deployment' },
)

const above = (repo: Repository, { api }: Wire) => `${api}/repos/${repo.owner_login}/${repo.name}`

export function deploymentJson(deployment: Deployment, repo: Repository, wire: Wire): Static<typeof DeploymentSchema> {
  const repository_url = above(repo, wire)
  const url = `${repository_url}/deployments/${deployment.id}`
  return {
    url,
    id: deployment.id,
    node_id: nodeId('Deployment', deployment.id),
    sha: deployment.sha,
    ref: deployment.ref,
    task: deployment.task,
    payload: deployment.payload,
    original_environment: deployment.original_environment,
    environment: deployment.environment,
    description: deployment.description,
    creator: deployment.creator && userJson(deployment.creator, wire),
    created_at: timestamp(deployment.created_at),
    updated_at: timestamp(deployment.updated_at),
    statuses_url: `${url}/statuses`,
    repository_url,
    transient_environment: deployment.transient_environment,
    production_environment: deployment.production_environment,
  }
}

export const DeploymentStatusSchema = Type.Object(
  {
    url: Address,
    id: Type.Integer(),
    node_id: Type.String(),
    state: Type.String(),
    creator: NullableUser,
    description: Type.String(),
    environment: Type.String(),
    target_url: Type.String(),
    created_at: Timestamp,
    updated_at: Timestamp,
    deployment_url: Address,
    repository_url: Address,
    environment_url: Type.String(),
    log_url: Type.String(),
  },
  { title: 'DeploymentStatus' },
)

export function deploymentStatusJson(
  status: DeploymentStatus,
  repo: Repository,
  wire: Wire,
): Static<typeof DeploymentStatusSchema> {
  const repository_url = above(repo, wire)
  const deployment_url = `${repository_url}/deployments/${status.deployment_id}`
  return {
    url: `${deployment_url}/statuses/${status.id}`,
    id: status.id,
    node_id: nodeId('DeploymentStatus', status.id),
    state: status.state,
    creator: status.creator && userJson(status.creator, wire),
    description: status.description,
    environment: status.environment,
    // The older name of `log_url`.
    target_url: status.log_url,
    created_at: timestamp(status.created_at),
    updated_at: timestamp(status.updated_at),
    deployment_url,
    repository_url,
    environment_url: status.environment_url,
    log_url: status.log_url,
  }
}

export const EnvironmentSchema = Type.Object(
  {
    id: Type.Integer(),
    node_id: Type.String(),
    name: Type.String(),
    url: Address,
    html_url: Address,
    created_at: Timestamp,
    updated_at: Timestamp,
    protection_rules: Type.Array(Type.Object({})),
    deployment_branch_policy: Type.Null(),
  },
  { title: 'Environment' },
)

export function environmentJson(environment: Environment, repo: Repository, wire: Wire): Static<typeof EnvironmentSchema> {
  return {
    id: environment.id,
    node_id: nodeId('Environment', environment.id),
    name: environment.name,
    url: `${above(repo, wire)}/environments/${encodeURIComponent(environment.name)}`,
    html_url: `${wire.web}/${repo.owner_login}/${repo.name}`,
    created_at: timestamp(environment.created_at),
    updated_at: timestamp(environment.updated_at),
    protection_rules: [],
    deployment_branch_policy: null,
  }
}
