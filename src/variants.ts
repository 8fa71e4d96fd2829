/** What differs between the two interfaces that one process serves. Nothing else may ask which variant it is. */
export interface Variant {
  name: 'self-hosted' | 'versioned'
  /** What stands between the listener's address and the paths of the interface. */
  prefix: string
  /** Requests an hour, or null: no limit, and no headers that speak of one. */
  rate_limit: { anonymous: number; user: number } | null
  /** The dates a client may ask for; with none, the header that asks is ignored. */
  api_versions: readonly string[]
  /** How far event timelines go back, and in which steps. */
  events: {
    page: { size: number; largest: number; fixed?: true }
    /** The same of the timeline of everyone. */
    public_page: { size: number; largest: number; fixed?: true }
    days: number
    /** How old an event is before everyone's timeline shows it, in seconds. */
    public_delay: number
    /** Whether a push tells of its commits. */
    lists_commits: boolean
    /** Whether pull requests are shown whole, and what merges one is told as closing it. */
    whole_pulls: boolean
  }
  /** From when on source imports are closed, unless whoever runs the server says otherwise. */
  imports_close_at: Date | null
}

/** Timelines end here, however many pages are asked for. */
export const mostEvents = 300

export const selfHosted: Variant = {
  name: 'self-hosted',
  prefix: '/api/v3',
  rate_limit: null,
  api_versions: [],
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

/** The log is kept for as long as a variant shows it. */
export const daysKept = Math.max(selfHosted.events.days, versioned.events.days)

/** What `BELFRY_RATE_LIMIT=on` turns on where a variant has no limit of its own. */
export const standardRateLimit = { anonymous: 60, user: 5000 }
