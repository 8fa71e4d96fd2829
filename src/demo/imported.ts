import { authorOf } from '#hosting/repositories/contents.ts'
import { completeImport } from '#parts/imports/complete-import.ts'
import { startImport } from '#parts/imports/imports.ts'
import { applyEvent, recordProgress } from '#parts/imports/progress.ts'
import { sql } from '#platform/database.ts'
import { policyFor } from '#platform/outbound/policy.ts'
import type { Stage } from '#seed/stage.ts'
import { type Scene, scene } from './scenes.ts'

const plans = 'clockwork/old-plans'
const vcs_url = 'https://svn.archive.example/bellwater/plans'

/** A repository that was imported from the archive's Subversion server, with its report. */
export const importScenes: Scene[] = [
  scene(251, 13, async (stage) => {
    const description = 'Drawings and lists from the archive, imported from Subversion'
    await stage.createRepository('cleo', plans, { description, topics: ['archive', 'heritage'] })
    await importPlans(stage)
  }),
]

async function importPlans(stage: Stage) {
  const { db, storage, belfry, clock } = stage
  const { actor, repo } = await stage.as('cleo', plans)
  const policy = policyFor(belfry.settings.BELFRY_HOST, belfry.settings.BELFRY_WEBHOOK_ADDRESSES)
  const revisions = drawings.map(([message, path, text], index) => ({
    ...{ author: index % 2 ? { name: 'draughtsman', email: 'draughtsman@archive.example' } : authorOf(actor) },
    ...{ at: new Date(Date.UTC(2009, index, 3 + index)), message: `${message}\n`, files: { [path]: text } },
  }))
  const head = await storage.draft(repo.id, undefined, revisions)
  const refs = { 'refs/heads/main': head }
  const { id, run } = await stage.transaction(async (transaction) => {
    const deps = { vault: belfry.vault, storage, policy, use_lfs: 'opt_out' as const }
    const started = await startImport(transaction, deps, repo, actor, { vcs_url, vcs: 'subversion' })
    await applyEvent(transaction, started.id, started.run, 'found', { commit_count: revisions.length, svn_root: 'trunk' })
    await applyEvent(transaction, started.id, started.run, 'imported', { commit_count: revisions.length })
    const verification = { branches: 1, tags: 0, revisions: revisions.length, files: revisions.length, mismatches: [] }
    const report = { default_branch: 'main', notes: {}, verification }
    await applyEvent(transaction, started.id, started.run, 'mapped', { report })
    // The source does not exist, so the runner must not continue this import.
    await transaction.query(sql`update imports set active = false where id = ${started.id}`)
    return started
  })
  const authors = ['draughtsman', 'cleo'].map((name) => ({
    remote_id: name,
    remote_name: name,
    name,
    email: `${name}@archive.example`,
  }))
  await recordProgress(db, id, run, { percent: 100, push_percent: 100, commit_count: revisions.length, authors })
  clock.advance(3)
  await completeImport({ db, storage }, { id, run }, { refs, default_branch: 'main' })
}

const drawings: [message: string, path: string, text: string][] = [
  ['List the sheets', 'sheets.csv', 'sheet,year,shows\n1,1848,dial\n2,1848,going train\n3,1851,strike\n4,1902,sixth bell\n'],
  ['Describe the dial', 'dial.md', '# The dial\n\nCopper, 2.1 m across, gilded numerals. The minute hand is 1.4 m long.\n'],
  [
    'Describe the going train',
    'going-train.md',
    '# The going train\n\nFour wheels, see sheet 2. The third wheel was replaced in 1902.\n',
  ],
  ['Describe the strike', 'strike.md', '# The strike\n\nA count wheel with 78 strokes in twelve hours.\n'],
  ['Note the sixth bell', 'sixth-bell.md', '# The sixth bell\n\nOrdered in 1902, paid, never hung. **Where is it?**\n'],
  ['Answer the question about the sixth bell', 'found.md', '# Found\n\nIn the cellar of the town hall, behind the flags.\n'],
]
