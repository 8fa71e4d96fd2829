import type { Repository } from '#hosting/repositories/repositories.ts'
import { NullableString, NullableTimestamp, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { SshKey } from './keys.ts'

const key = {
  id: Type.Integer(),
  key: Type.String(),
  url: Type.String(),
  title: Type.String(),
  created_at: Timestamp,
  verified: Type.Boolean(),
  read_only: Type.Boolean(),
}

export const UserKey = Type.Object(key, { title: 'Key' })

export function keyJson(row: SshKey, wire: Wire): Static<typeof UserKey> {
  return {
    id: row.id,
    key: row.key,
    url: `${wire.api}/user/keys/${row.id}`,
    title: row.title,
    created_at: timestamp(row.created_at),
    verified: true,
    read_only: row.read_only,
  }
}

/** The public view of a user's keys. */
export const SimpleKey = Type.Object({ id: Type.Integer(), key: Type.String() }, { title: 'KeySimple' })

export const simpleKeyJson = (row: SshKey): Static<typeof SimpleKey> => ({ id: row.id, key: row.key })

export const DeployKey = Type.Object(
  { ...key, added_by: NullableString, last_used: NullableTimestamp, enabled: Type.Boolean() },
  { title: 'DeployKey' },
)

export function deployKeyJson(row: SshKey, repo: Repository, wire: Wire): Static<typeof DeployKey> {
  return {
    id: row.id,
    key: row.key,
    url: `${wire.api}/repos/${repo.owner_login}/${repo.name}/keys/${row.id}`,
    title: row.title,
    created_at: timestamp(row.created_at),
    verified: true,
    read_only: row.read_only,
    added_by: row.added_by_login,
    last_used: null,
    enabled: true,
  }
}
