import type { SeedHook, SeedPermission, SeedRepository } from './repository-format.ts'

/** What a Belfry contains when it starts: a typed object, or a YAML or JSON file of the same shape. See docs/seed.md. */
export interface Seed {
  /** When the first act happens, such as `2026-01-01T09:00:00Z`, which is the default. Every act without a date is a second after the one before it. */
  start?: string
  /** The accounts of people. */
  users?: SeedUser[]
  /** Accounts that have members and teams. */
  organizations?: SeedOrganization[]
  /** With their commits, issues and pull requests. */
  repositories?: SeedRepository[]
  /** Clients of the OAuth flows. */
  oauth_applications?: SeedOAuthApplication[]
  /** Apps with their installations. */
  apps?: SeedApp[]
}

export interface SeedUser {
  /** `admin` is the site admin, who exists in every Belfry. */
  login: string
  /** The name on the profile. */
  name?: string
  /** `login@example.com` unless given. */
  email?: string
  /** Without one, the user cannot sign in on the pages. Tokens work. */
  password?: string
  /** A text on the profile. */
  bio?: string
  /** On the profile. */
  company?: string
  /** On the profile. */
  location?: string
  /** Whether the user administers the server. `false` unless given. */
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
  /** The name in addresses. */
  login: string
  /** The name on the profile. */
  name?: string
  /** A text on the profile. */
  description?: string
  /** Logins, at least one. */
  owners: string[]
  /** Logins of users who are not owners. */
  members?: string[]
  /** Access of all members to all repositories: `read` unless given. */
  default_permission?: 'none' | 'read' | 'write' | 'admin'
  /** Groups of members with access to repositories. */
  teams?: SeedTeam[]
  /** Webhooks of the organization, created last. */
  hooks?: SeedHook[]
}

export interface SeedTeam {
  /** Its slug follows from it. */
  name: string
  /** What the team does. */
  description?: string
  /** `secret` teams are visible to their members only. `closed` unless given. */
  privacy?: 'closed' | 'secret'
  /** Logins of members who manage the team. */
  maintainers?: string[]
  /** Logins of members. */
  members?: string[]
  /** What the team has access to. */
  repositories?: SeedTeamRepository[]
}

export interface SeedTeamRepository {
  /** A repository of the organization, as `owner/name`. */
  name: string
  /** `pull` unless given. */
  permission?: SeedPermission
}

export interface SeedOAuthApplication {
  /** Unique in the seed. */
  name: string
  /** A login. */
  owner: string
  /** The home page. */
  url?: string
  /** Where users return to. */
  callback_url: string
  /** Both follow from the name unless given. */
  client_id?: string
  /** Follows from the name unless given. */
  client_secret?: string
}

export interface SeedApp {
  /** Its slug is the name in small letters, with hyphens. */
  name: string
  /** The login of a user or an organization. */
  owner: string
  /** The home page. `http://localhost/` unless given. */
  url?: string
  /** What the app does. */
  description?: string
  /** Where users return to. */
  callback_url?: string
  /** Such as `{ issues: write }`. */
  permissions?: Record<string, string>
  /** Webhook events, which need a permission that includes them. */
  events?: string[]
  /** Where events are sent to. */
  webhook_url?: string
  /** Signs the deliveries. Follows from the name unless given. */
  webhook_secret?: string
  /** Follows from the name unless given. */
  client_id?: string
  /** Follows from the name unless given. */
  client_secret?: string
  /** An RSA key in PEM format. A new one unless given. */
  private_key?: string
  /** The accounts that have installed the app. */
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
