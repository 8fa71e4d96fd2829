import { readFileSync } from 'node:fs'
import { join } from 'node:path'

type Outcome = 'passed' | 'failed' | 'skipped'

/** The last recorded run of the conformance checks against this version, which `npm run conformance` writes. */
export interface ConformanceRecord {
  belfry: string
  date: string
  checks: {
    id: string
    part: string
    operation: string
    proves: string[]
    outcomes: Partial<Record<'self-hosted' | 'versioned', Outcome>>
  }[]
}

const file = join(import.meta.dirname, '..', '..', '..', 'docs', 'conformance.json')

/** Read for each request, because few ask for it. */
export const readConformance = (): ConformanceRecord => JSON.parse(readFileSync(file, 'utf8'))
