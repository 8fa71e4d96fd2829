import { publish } from '#activity/publish.ts'
import { personOf } from '#hosting/issues/authors.ts'
import { keptId } from '#hosting/repositories/deletion-lock.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account, Person } from '#identity/accounts.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import { addEnvironment, type Deployment, loadDeployment } from './deployments.ts'

export const deploymentStates = ['error', 'failure', 'inactive', 'in_progress', 'queued', 'pending', 'success'] as const
export type DeploymentState = (typeof deploymentStates)[number]

export interface DeploymentStatus {
  id: number
  deployment_id: number
  state: DeploymentState
  description: string
  environment: string
  environment_url: string
  log_url: string
  creator: Person | null
  created_at: Date
  updated_at: Date
}

const columns = sql`s.*, ${personOf(sql`s.creator_id`)} as creator`

/** Statuses by id, without a check of access: the caller has checked it. */
export function loadDeploymentStatuses(db: Queryable, ids: number[]): Promise<DeploymentStatus[]> {
  return db.rows(sql`select ${columns} from deployment_statuses s where s.id = any(${ids})`)
}

export function loadDeploymentStatus(db: Queryable, deployment: Deployment, id: number): Promise<DeploymentStatus> {
  return db.load(sql`select ${columns} from deployment_statuses s where s.deployment_id = ${deployment.id} and s.id = ${id}`)
}

/** Newest first. */
export function listDeploymentStatuses(db: Queryable, deployment: Deployment, slice: Slice): Promise<Listed<DeploymentStatus>> {
  const source = sql`deployment_statuses s where s.deployment_id = ${deployment.id}`
  return listed(db, { columns, source, order: sql`s.id desc` }, slice)
}

export interface NewDeploymentStatus {
  state: DeploymentState
  description: string
  environment: string | undefined
  environment_url: string
  log_url: string
  auto_inactive: boolean
}

export async function createDeploymentStatus(
  db: Transaction,
  repo: Repository,
  creator: Account,
  deployment_id: number,
  { state, description, environment_url, log_url, auto_inactive, ...wanted }: NewDeploymentStatus,
): Promise<DeploymentStatus> {
  await db.load(sql`select id from deployments where repo_id = ${keptId(repo)} and id = ${deployment_id} for update`)
  const deployment = await loadDeployment(db, repo, deployment_id)
  const environment = wanted.environment ?? deployment.environment
  if (environment !== deployment.environment) await addEnvironment(db, repo, environment)
  const { id } = await db.load<{ id: number }>(sql`
    insert into deployment_statuses (deployment_id, state, description, environment, environment_url, log_url, creator_id, created_at, updated_at)
    values (${deployment_id}, ${state}, ${description}, ${environment}, ${environment_url}, ${log_url}, ${creator.id}, ${db.now}, ${db.now})
    returning id`)
  await db.query(sql`
    update deployments set state = ${state}, environment = ${environment}, updated_at = ${db.now} where id = ${deployment_id}`)
  if (state === 'success' && auto_inactive) await endEarlier(db, repo, creator, deployment, environment)
  // The documented payload has no such state.
  if (state !== 'inactive') {
    await publish(db, creator, repo, { act: 'deployment_status.created', deployment_id, deployment_status_id: id })
  }
  return loadDeploymentStatus(db, deployment, id)
}

/** Earlier successful deployments to the environment end, unless it is transient or production, as documented. */
async function endEarlier(db: Transaction, repo: Repository, creator: Account, { id }: Deployment, environment: string) {
  await db.query(sql`
    with ended as (
      update deployments set state = 'inactive', updated_at = ${db.now}
      where repo_id = ${repo.id} and environment = ${environment} and id < ${id} and state = 'success'
        and not transient_environment and not production_environment
      returning id)
    insert into deployment_statuses (deployment_id, state, description, environment, environment_url, log_url, creator_id, created_at, updated_at)
    select id, 'inactive', '', ${environment}, '', '', ${creator.id}, ${db.now}, ${db.now} from ended`)
}
