/** What differs between the two interfaces that one process serves. Nothing else may ask which variant it is. */
export interface Variant {
  name: 'self-hosted' | 'versioned'
  /** What stands between the listener's address and the paths of the interface. */
  prefix: string
  /** Requests an hour, or null: no limit, and no headers that speak of one. */
  rate_limit: { anonymous: number; user: number } | null
  /** The dates a client may ask for; with none, the header that asks is ignored. */
  api_versions: readonly string[]
}

export const selfHosted: Variant = {
  name: 'self-hosted',
  prefix: '/api/v3',
  rate_limit: null,
  api_versions: [],
}

export const versioned: Variant = {
  name: 'versioned',
  prefix: '',
  rate_limit: { anonymous: 60, user: 5000 },
  api_versions: ['2022-11-28', '2026-03-10'],
}

/** What `BELFRY_RATE_LIMIT=on` turns on where a variant has no limit of its own. */
export const standardRateLimit = { anonymous: 60, user: 5000 }
