import { appJson, integration, Permissions } from '#hosting/apps/json.ts'
import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { RepositorySchema } from '#hosting/repositories/json.ts'
import { Address, NullableString, NullableTimestamp, nodeId, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Installation } from './installations/installation.ts'
import type { InstallationRequest } from './installations/requests.ts'
import type { Credentials } from './manifest.ts'

/** The only response that contains the secrets and the private key. */
export const NewIntegration = Type.Object(
  { ...integration, client_secret: Type.String(), webhook_secret: NullableString, pem: Type.String() },
  { title: 'NewIntegration' },
)

export const newAppJson = ({ app, ...secrets }: Credentials, wire: Wire): Static<typeof NewIntegration> => ({
  ...appJson(app, wire),
  ...secrets,
})

export const InstallationSchema = Type.Object(
  {
    id: Type.Integer(),
    client_id: Type.String(),
    account: SimpleUser,
    repository_selection: Type.String(),
    access_tokens_url: Address,
    repositories_url: Address,
    html_url: Address,
    app_id: Type.Integer(),
    app_slug: Type.String(),
    target_id: Type.Integer(),
    target_type: Type.String(),
    permissions: Permissions,
    events: Type.Array(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
    single_file_name: NullableString,
    has_multiple_single_files: Type.Boolean(),
    single_file_paths: Type.Array(Type.String()),
    suspended_by: Type.Unsafe<Static<typeof SimpleUser> | null>({ ...SimpleUser, nullable: true }),
    suspended_at: NullableTimestamp,
  },
  { title: 'Installation' },
)

export function installationJson(installation: Installation, wire: Wire): Static<typeof InstallationSchema> {
  const { account, suspended_by, suspended_at } = installation
  const settings = account.type === 'Organization' ? `organizations/${account.login}/settings` : 'settings'
  return {
    id: installation.id,
    client_id: installation.client_id,
    account: userJson(account, wire),
    repository_selection: installation.all_repositories ? 'all' : 'selected',
    access_tokens_url: `${wire.api}/app/installations/${installation.id}/access_tokens`,
    repositories_url: `${wire.api}/installation/repositories`,
    html_url: `${wire.web}/${settings}/installations/${installation.id}`,
    app_id: installation.app_id,
    app_slug: installation.app_slug,
    target_id: account.id,
    target_type: account.type,
    permissions: installation.permissions,
    events: installation.events,
    created_at: timestamp(installation.created_at),
    updated_at: timestamp(installation.updated_at),
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: suspended_by && userJson(suspended_by, wire),
    suspended_at: suspended_at && timestamp(suspended_at),
  }
}

export const InstallationRequestSchema = Type.Object(
  { id: Type.Integer(), node_id: Type.String(), account: SimpleUser, requester: SimpleUser, created_at: Timestamp },
  { title: 'InstallationRequest' },
)

export const requestJson = (request: InstallationRequest, wire: Wire): Static<typeof InstallationRequestSchema> => ({
  id: request.id,
  node_id: nodeId('IntegrationInstallationRequest', request.id),
  account: userJson(request.account, wire),
  requester: userJson(request.requester, wire),
  created_at: timestamp(request.created_at),
})

export const InstallationList = Type.Object(
  { total_count: Type.Integer(), installations: Type.Array(InstallationSchema) },
  { title: 'InstallationList' },
)

export const InstallationTokenSchema = Type.Object(
  {
    token: Type.String(),
    expires_at: Timestamp,
    permissions: Permissions,
    repository_selection: Type.String(),
    repositories: Type.Optional(Type.Array(RepositorySchema)),
  },
  { title: 'InstallationToken' },
)

export const InstallationRepositories = Type.Object(
  {
    total_count: Type.Integer(),
    repository_selection: Type.String(),
    repositories: Type.Array(RepositorySchema),
  },
  { title: 'InstallationRepositories' },
)
