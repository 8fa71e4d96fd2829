import { publish } from '#activity/publish.ts'
import { holdsAll } from '#git/objects.ts'
import type { Storage } from '#git/storage.ts'
import { personOf } from '#hosting/issues/authors.ts'
import { findCommit } from '#hosting/refs/commits.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account, Person } from '#identity/accounts.ts'
import { type Database, json, type Queryable, sql, type Transaction } from '#platform/database.ts'
import { forbidden, Refusal } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import { autoMerge } from './auto-merge.ts'
import { checkContexts } from './contexts.ts'

export interface Deployment {
  id: number
  sha: string
  ref: string
  task: string
  environment: string
  original_environment: string
  payload: object | string
  description: string | null
  transient_environment: boolean
  production_environment: boolean
  creator: Person | null
  created_at: Date
  updated_at: Date
}

const columns = sql`d.id, d.sha, d.ref, d.task, d.environment, d.original_environment, d.payload, d.description, d.transient_environment,
  d.production_environment, d.created_at, d.updated_at, ${personOf(sql`d.creator_id`)} as creator`

/** Deployments by id, without a check of access: the caller has checked it. */
export function loadDeployments(db: Queryable, ids: number[]): Promise<Deployment[]> {
  return db.rows(sql`select ${columns} from deployments d where d.id = any(${ids})`)
}

export function loadDeployment(db: Queryable, repo: Repository, id: number): Promise<Deployment> {
  return db.load(sql`select ${columns} from deployments d where d.repo_id = ${repo.id} and d.id = ${id}`)
}

export interface DeploymentFilter {
  sha: string
  ref: string
  task: string
  environment: string
}

/** Newest first. `none` or nothing does not filter, as documented. */
export function listDeployments(
  db: Queryable,
  repo: Repository,
  { sha, ref, task, environment }: DeploymentFilter,
  slice: Slice,
): Promise<Listed<Deployment>> {
  const source = sql`deployments d where d.repo_id = ${repo.id} and ${sha} in ('', 'none', d.sha) and ${ref} in ('', 'none', d.ref)
    and ${task} in ('', 'none', d.task) and ${environment} in ('', 'none', d.environment)`
  return listed(db, { columns, source, order: sql`d.id desc` }, slice)
}

export interface NewDeployment {
  ref: string
  task: string
  environment: string
  payload: object | string
  description: string | null
  transient_environment: boolean
  production_environment: boolean
  /** Merges the default branch into the ref first, if the ref is a branch without its commits. */
  auto_merge: boolean
  may_merge: boolean
  /** Contexts that must have succeeded. Undefined: all that the commit has. */
  required_contexts: string[] | undefined
}

/** Returns the message of a merge instead, if one was needed first: the client deploys again when its checks have passed. */
export async function createDeployment(
  db: Database,
  storage: Storage,
  repo: Repository,
  creator: Account,
  wanted: NewDeployment,
): Promise<Deployment | { message: string }> {
  const sha = await findCommit(storage, repo, wanted.ref)
  const base = await findCommit(storage, repo, `refs/heads/${repo.default_branch}`).catch(() => sha)
  if (wanted.auto_merge && !(await holdsAll(storage, repo.id, sha, base))) {
    if (!wanted.may_merge) throw forbidden('This token may not merge the default branch first. Send auto_merge: false.')
    const merged = await autoMerge(db, storage, repo, creator, wanted.ref)
    if (merged) return merged
  }
  await checkContexts(db, repo, sha, wanted)
  return db.transaction(async (transaction) => {
    await addEnvironment(transaction, repo, wanted.environment)
    const { id } = await transaction.load<{ id: number }>(sql`
      insert into deployments (repo_id, sha, ref, task, environment, original_environment, payload, description, transient_environment,
        production_environment, creator_id, created_at, updated_at)
      values (${repo.id}, ${sha}, ${wanted.ref}, ${wanted.task}, ${wanted.environment}, ${wanted.environment},
        ${json(wanted.payload)}::jsonb, ${wanted.description}, ${wanted.transient_environment}, ${wanted.production_environment},
        ${creator.id}, ${transaction.now}, ${transaction.now})
      returning id`)
    await publish(transaction, creator, repo, { act: 'deployment.created', deployment_id: id })
    return loadDeployment(transaction, repo, id)
  })
}

export async function addEnvironment(db: Transaction, repo: Repository, name: string) {
  await db.query(sql`
    insert into environments (repo_id, name, created_at, updated_at) values (${repo.id}, ${name}, ${db.now}, ${db.now})
    on conflict (repo_id, name) do nothing`)
}

/** An active deployment can be deleted only if it is the only one. */
export async function deleteDeployment(db: Transaction, repo: Repository, id: number) {
  await db.query(sql`select from repositories where id = ${repo.id} for no key update`)
  const { state } = await db.load<{ state: string | null }>(
    sql`select state from deployments where repo_id = ${repo.id} and id = ${id} for update`,
  )
  const others = await db.query(sql`select from deployments where repo_id = ${repo.id} and id <> ${id} limit 1`)
  if (others.rowCount && state !== 'inactive') {
    const message = 'We cannot delete an active deployment unless it is the only deployment in a repository.'
    throw new Refusal('invalid', message)
  }
  await db.query(sql`delete from deployments where id = ${id}`)
}

export interface Environment {
  id: number
  name: string
  created_at: Date
  updated_at: Date
}

const known = (repo: Repository) => sql`environments e where e.repo_id = ${repo.id}`

/** The environments that a deployment has named, by name. */
export function listEnvironments(db: Queryable, repo: Repository, slice: Slice): Promise<Listed<Environment>> {
  return listed(db, { columns: sql`e.*`, source: known(repo), order: sql`e.name` }, slice)
}

export function loadEnvironment(db: Queryable, repo: Repository, name: string): Promise<Environment> {
  return db.load(sql`select * from ${known(repo)} and e.name = ${name}`)
}
