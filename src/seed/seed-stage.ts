import type { Belfry } from '#belfry.ts'
import type { Team } from '#hosting/teams/teams.ts'
import type { SeedAccess } from './format.ts'
import type { Path } from './path.ts'
import { Stage, StoryClock } from './stage.ts'

export interface ActingUser {
  login: string
  full_name: string
}

/** The stage of a seed. Its texts are taken as they are, and it collects how to reach what it makes. */
export class SeedStage extends Stage {
  readonly access: SeedAccess
  /** What it is making, for messages. */
  path: Path = []
  /** Who acted last in making it. */
  acting: ActingUser | undefined
  /** Password hashes by login. */
  readonly hashes: Map<string, string>
  /** Teams by `organization/name`. */
  readonly teams = new Map<string, Team>()

  constructor(belfry: Belfry, start: Date, hashes: Map<string, string>) {
    const clock = new StoryClock(start)
    // The load is not resumed after a power loss. The transaction with the tokens comes last, and waits for the disk.
    super(belfry, clock, { synchronous_commit: 'off' })
    this.hashes = hashes
    const { BELFRY_ADMIN_TOKEN: admin_token } = belfry.settings
    this.access = { admin_token, users: {}, tokens: {}, oauth_applications: {}, apps: {}, ends_at: start }
  }

  begin(path: Path) {
    this.path = path
    this.acting = undefined
  }

  override as(login: string, full_name: string) {
    this.acting = { login, full_name }
    return super.as(login, full_name)
  }

  override text(text: string) {
    return text
  }
}
