import { parseIsoDate } from '#platform/iso-date.ts'
import { planConversations } from './conversations.ts'
import { fillDefaultBranches } from './default-branch.ts'
import type { Seed } from './format.ts'
import { planIntegrations } from './integrations.ts'
import type { Fault } from './path.ts'
import { planPeople } from './people.ts'
import { planProtection } from './protection.ts'
import { planRepositories } from './repositories.ts'
import { type Step, Timetable } from './timetable.ts'

const defaultStart = '2026-01-01T09:00:00Z'

/** The acts of a seed in the order of time, and dates that contradict each other. Hooks come last, so that the acts before are not sent. */
export function planSeed(given: Seed): { start: Date; steps: Step[]; faults: Fault[] } {
  const seed = { ...given, repositories: fillDefaultBranches(given.repositories ?? []) }
  const start = parseIsoDate(seed.start ?? defaultStart) ?? new Date(defaultStart)
  const timetable = new Timetable(start)
  planPeople(timetable, seed)
  planConversations(timetable, seed, planRepositories(timetable, seed))
  const steps = timetable.steps.toSorted((one, other) => one.at.getTime() - other.at.getTime())
  const last = new Timetable(steps.at(-1)?.at ?? start)
  planProtection(last, seed)
  planIntegrations(last, seed)
  return { start, steps: [...steps, ...last.steps], faults: timetable.faults }
}
