import { endRestoredImports } from '#parts/imports/all-imports.ts'
import { silenceHooks } from '#parts/webhooks/restored.ts'
import type { Transaction } from '#platform/database.ts'

export type Silenced = Awaited<ReturnType<typeof silence>>

/** A copy must not act for the server that it was copied from, which may still run. */
export async function silence(db: Transaction) {
  const hooks = await silenceHooks(db)
  return { ...hooks, ended_imports: await endRestoredImports(db) }
}

export const silencedText = ({ paused_hooks, dropped_deliveries, ended_imports }: Silenced) =>
  `It sends nothing: ${paused_hooks} webhooks are paused, ${dropped_deliveries} waiting deliveries dropped, ${ended_imports} imports ended.
To activate the webhooks, run npx belfry admin hooks resume-restored.`
