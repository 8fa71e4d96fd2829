import type { Facts } from '#activity/facts.ts'
import { NullableUser } from '#hosting/milestones/json.ts'
import { userJson } from '#hosting/people/json.ts'
import { type Authors, commitJson } from '#hosting/refs/json.ts'
import { MinimalRepository, minimalRepositoryJson } from '#hosting/repositories/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { Address, NullableString, nodeId, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { CombinedStatus, Status } from './statuses.ts'

const fields = {
  url: Address,
  avatar_url: NullableString,
  id: Type.Integer(),
  node_id: Type.String(),
  state: Type.String(),
  description: NullableString,
  target_url: NullableString,
  context: Type.String(),
  created_at: Timestamp,
  updated_at: Timestamp,
}

const SimpleStatus = Type.Object(fields, { title: 'SimpleCommitStatus' })
export const StatusSchema = Type.Object({ ...fields, creator: NullableUser }, { title: 'Status' })

const above = (repo: Repository, wire: Wire) => `${wire.api}/repos/${repo.owner_login}/${repo.name}`

function simpleStatusJson(status: Status, repo: Repository, wire: Wire): Static<typeof SimpleStatus> {
  return {
    url: `${above(repo, wire)}/statuses/${status.sha}`,
    avatar_url: status.creator && userJson(status.creator, wire).avatar_url,
    id: status.id,
    node_id: nodeId('StatusContext', status.id),
    state: status.state,
    description: status.description,
    target_url: status.target_url,
    context: status.context,
    created_at: timestamp(status.created_at),
    updated_at: timestamp(status.updated_at),
  }
}

export function statusJson(status: Status, repo: Repository, wire: Wire): Static<typeof StatusSchema> {
  return { ...simpleStatusJson(status, repo, wire), creator: status.creator && userJson(status.creator, wire) }
}

export const CombinedStatusSchema = Type.Object(
  {
    state: Type.String(),
    statuses: Type.Array(SimpleStatus),
    sha: Type.String(),
    total_count: Type.Integer(),
    repository: MinimalRepository,
    commit_url: Address,
    url: Address,
  },
  { title: 'CombinedCommitStatus' },
)

export function combinedStatusJson(
  { state, sha, total_count, statuses }: CombinedStatus,
  repo: Repository,
  wire: Wire,
): Static<typeof CombinedStatusSchema> {
  const commit_url = `${above(repo, wire)}/commits/${sha}`
  return {
    state,
    statuses: statuses.map((status) => simpleStatusJson(status, repo, wire)),
    sha,
    total_count,
    repository: minimalRepositoryJson(repo, wire),
    commit_url,
    url: `${commit_url}/status`,
  }
}

/** The status in a webhook payload, with its commit and the branches that contain it. */
export function deliveredStatusJson(
  status: Status,
  { commit, branches }: { commit: NonNullable<Facts['commit']>; branches: Facts['branches'] },
  authors: Authors,
  repo: Repository,
  wire: Wire,
) {
  const { id, avatar_url, target_url, context, description, state, created_at, updated_at } = simpleStatusJson(status, repo, wire)
  return {
    id,
    sha: status.sha,
    name: `${repo.owner_login}/${repo.name}`,
    avatar_url,
    target_url,
    context,
    description,
    state,
    commit: commitJson(commit, authors, repo, wire),
    branches: branches.map(({ sha, ...branch }) => ({
      ...branch,
      commit: { sha, url: `${above(repo, wire)}/commits/${sha}` },
    })),
    created_at,
    updated_at,
  }
}
