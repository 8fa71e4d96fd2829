/** The differences between the two APIs that one process serves. No other code may branch on the variant. */
export interface Variant {
  name: 'self-hosted' | 'versioned'
  /** The path prefix of the API on its listener. */
  prefix: string
  /** Requests an hour. Null means no limit and no rate limit headers. */
  rate_limit: { anonymous: number; user: number } | null
  /** The versions that a client may request. Without any, the version header is ignored. */
  api_versions: readonly string[]
  /** The version of the public documentation of self-hosted servers, from which clients conclude what a server can do. */
  documented_as: string | null
  events: {
    page: { size: number; largest: number; fixed?: true }
    /** For `/events`. */
    public_page: { size: number; largest: number; fixed?: true }
    days: number
    /** Seconds until an event appears on `/events`. */
    public_delay: number
    /** Whether a push event lists its commits. */
    lists_commits: boolean
    /** Whether events contain the full pull request, and a merge has the action `closed`. */
    whole_pulls: boolean
  }
  /** When source imports close, unless a setting says otherwise. */
  imports_close_at: Date | null
}

/** A timeline has at most so many events, on all pages together. */
export const mostEvents = 300

export const selfHosted: Variant = {
  name: 'self-hosted',
  prefix: '/api/v3',
  rate_limit: null,
  api_versions: [],
  documented_as: '3.19.0',
  events: {
    page: { size: 30, largest: 30, fixed: true },
    public_page: { size: 30, largest: 30, fixed: true },
    days: 90,
    public_delay: 300,
    lists_commits: true,
    whole_pulls: true,
  },
  imports_close_at: null,
}

export const versioned: Variant = {
  name: 'versioned',
  prefix: '',
  rate_limit: { anonymous: 60, user: 5000 },
  api_versions: ['2022-11-28', '2026-03-10'],
  documented_as: null,
  events: {
    page: { size: 30, largest: 100 },
    public_page: { size: 15, largest: 100 },
    days: 30,
    public_delay: 30,
    lists_commits: false,
    whole_pulls: false,
  },
  imports_close_at: new Date('2024-04-12T00:00:00Z'),
}

/** 53 weeks: the calendar of a profile. */
export const daysOfContributions = 371

/** The event log is kept as long as one of the variants or a profile shows it. */
export const daysKept = Math.max(selfHosted.events.days, versioned.events.days, daysOfContributions)

/** The limit that `BELFRY_RATE_LIMIT=on` sets for a variant without one. */
export const standardRateLimit = { anonymous: 60, user: 5000 }
