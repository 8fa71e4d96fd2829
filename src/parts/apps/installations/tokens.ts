import type { Viewer } from '#identity/accounts.ts'
import type { App } from '#identity/apps.ts'
import { type AppPermissions, accessByPermissions, includesLevel, permissionsOfApp } from '#identity/permissions.ts'
import { sql, type Transaction } from '#platform/database.ts'
import { forbidden, invalid } from '#platform/errors.ts'
import { lowerEach } from '#platform/lower-case.ts'
import { digest, newToken } from '#platform/secrets.ts'
import { type Installation, included } from './installation.ts'

/** What a token is narrowed to; undefined for everything that the installation has. */
export interface Narrowed {
  repositories?: string[] | undefined
  repository_ids?: number[] | undefined
  permissions?: Record<string, string> | undefined
}

export interface InstallationToken {
  token: string
  expires_at: Date
  permissions: AppPermissions
  /** Null for all repositories of the installation. */
  repository_ids: number[] | null
  viewer: Viewer
}

/** A token that acts as the bot for an hour, in repositories of the installation only. */
export async function createInstallationToken(
  db: Transaction,
  app: App,
  installation: Installation,
  narrowed: Narrowed,
): Promise<InstallationToken> {
  if (installation.suspended_at) throw forbidden('This installation has been suspended')
  const permissions = narrowPermissions(installation.permissions, narrowed.permissions)
  const repository_ids = await findRepositories(db, installation, narrowed)
  const token = newToken('bfs_')
  const expires_at = new Date(db.now.getTime() + 3600_000)
  await db.query(sql`delete from tokens where installation_id = ${installation.id} and expires_at <= ${db.now}`)
  const { id } = await db.load<{ id: number }>(sql`
    insert into tokens (user_id, digest, last_eight, kind, scopes, permissions, resource_owner_id, installation_id, all_repositories, expires_at,
      created_at, updated_at)
    values (${app.bot_id}, ${digest(token)}, ${token.slice(-8)}, 'installation', ${[]}::text[], ${JSON.stringify(permissions)}::jsonb,
      ${installation.account.id}, ${installation.id}, ${repository_ids === null}, ${expires_at}, ${db.now}, ${db.now})
    returning id`)
  if (repository_ids) {
    await db.query(sql`
      insert into token_repositories (token_id, repo_id) select ${id}, unnest(${repository_ids}::bigint[])`)
  }
  const installation_access = accessByPermissions(permissionsOfApp(permissions))
  const viewer = { viewer_id: app.bot_id, sees_private: true, token_id: id, installation_access }
  return { token, expires_at, permissions, repository_ids, viewer }
}

function narrowPermissions(held: AppPermissions, wanted: Record<string, string> | undefined): AppPermissions {
  if (!wanted) return held
  const refused = Object.entries(wanted).filter(([name, level]) => !includesLevel(held[name], level))
  if (refused.length) {
    const message = `The permissions requested are not granted to this installation: ${refused.map(([name]) => name).join(', ')}.`
    throw invalid({ resource: 'InstallationToken', code: 'invalid', field: 'permissions', message })
  }
  return { ...(wanted as AppPermissions), ...(held.metadata && { metadata: held.metadata }) }
}

/** Repositories outside the installation are refused like those that do not exist. */
async function findRepositories(db: Transaction, installation: Installation, { repositories, repository_ids }: Narrowed) {
  if (!repositories && !repository_ids) return null
  const names = [...new Set((repositories ?? []).map((name) => name.toLowerCase()))]
  const ids = [...new Set(repository_ids ?? [])]
  const found = await db.rows<{ id: number; name: string }>(sql`
    select r.id, lower(r.name) as name from repositories r
    where ${included(installation)} and (lower(r.name) = any(${lowerEach(names)}) or r.id = any(${ids}::bigint[]))`)
  const complete =
    names.every((name) => found.some((row) => row.name === name)) && ids.every((id) => found.some((row) => row.id === id))
  if (!complete || !found.length) {
    const message = 'At least one repository does not exist or is not accessible to the installation.'
    throw invalid({ resource: 'InstallationToken', code: 'invalid', field: 'repositories', message })
  }
  return found.map(({ id }) => id)
}
