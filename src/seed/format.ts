import type { SeedHook, SeedPermission, SeedRepository } from './repository-format.ts'

/** What a Belfry contains when it starts: a typed object, or a YAML or JSON file of the same shape. See docs/seed.md. */
export interface Seed {
  /** When the first act happens, such as `2026-01-01T09:00:00Z`, which is the default. Every act without a date is a second after the one before it. */
  start?: string
  users?: SeedUser[]
  organizations?: SeedOrganization[]
  repositories?: SeedRepository[]
  oauth_applications?: SeedOAuthApplication[]
  apps?: SeedApp[]
}

export interface SeedUser {
  /** `admin` is the site admin, who exists in every Belfry. */
  login: string
  name?: string
  /** `login@example.com` unless given. */
  email?: string
  /** Without one, the user cannot sign in on the pages. Tokens work. */
  password?: string
  bio?: string
  company?: string
  location?: string
  site_admin?: boolean
  /** A user without tokens gets one with all scopes, whose value follows from the login. */
  tokens?: SeedToken[]
  /** Logins of users. */
  follows?: string[]
}

export interface SeedToken {
  /** Unique in the seed. */
  name: string
  /** The token itself, such as `bfp_` and 36 letters and digits. It follows from the name unless given. */
  value?: string
  /** All scopes except `site_admin` unless given. */
  scopes?: string[]
}

export interface SeedOrganization {
  login: string
  name?: string
  description?: string
  /** Logins, at least one. */
  owners: string[]
  members?: string[]
  /** Access of all members to all repositories: `read` unless given. */
  default_permission?: 'none' | 'read' | 'write' | 'admin'
  teams?: SeedTeam[]
  hooks?: SeedHook[]
}

export interface SeedTeam {
  name: string
  description?: string
  /** `secret` teams are visible to their members only. `closed` unless given. */
  privacy?: 'closed' | 'secret'
  maintainers?: string[]
  members?: string[]
  repositories?: SeedTeamRepository[]
}

export interface SeedTeamRepository {
  /** A repository of the organization, as `owner/name`. */
  name: string
  /** `pull` unless given. */
  permission?: SeedPermission
}

export interface SeedOAuthApplication {
  name: string
  /** A login. */
  owner: string
  /** The home page. */
  url?: string
  callback_url: string
  /** Both follow from the name unless given. */
  client_id?: string
  client_secret?: string
}

export interface SeedApp {
  /** Its slug is the name in small letters, with hyphens. */
  name: string
  owner: string
  url?: string
  description?: string
  callback_url?: string
  /** Such as `{ issues: write }`. */
  permissions?: Record<string, string>
  events?: string[]
  webhook_url?: string
  webhook_secret?: string
  client_id?: string
  client_secret?: string
  /** An RSA key in PEM format. A new one unless given. */
  private_key?: string
  installations?: SeedInstallation[]
}

export interface SeedInstallation {
  /** The login of a user or an organization. */
  account: string
  /** `owner/name`; all repositories of the account unless given. */
  repositories?: string[]
}

/** How to reach what a seed made. */
export interface SeedAccess {
  /** The token in BELFRY_ADMIN_TOKEN, or the first that the seed gives to `admin`. Null: the first start printed it. */
  admin_token: string | null
  users: Record<string, SeededUser>
  /** By the names in the seed, and by login for users without tokens. */
  tokens: Record<string, string>
  oauth_applications: Record<string, { client_id: string; client_secret: string }>
  /** By slug. */
  apps: Record<string, SeededApp>
  /** When the last act of the seed happened. A clock that is set for tests should not be before it. */
  ends_at: Date
}

export interface SeededUser {
  login: string
  id: number
  /** The first of the user's tokens. */
  token: string
  password?: string
}

export interface SeededApp {
  id: number
  slug: string
  client_id: string
  client_secret: string
  webhook_secret: string | null
  private_key: string
  /** Ids of installations by login. */
  installations: Record<string, number>
}
