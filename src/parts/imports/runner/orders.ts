import { lfsRoot } from '#git/lfs-store.ts'
import type { Storage } from '#git/storage.ts'
import { ImportFailure } from '#importer/source.ts'
import type { Order } from '#importer/steps.ts'
import { takeCorrections } from '#parts/imports/authors.ts'
import { openCredentials } from '#parts/imports/credentials.ts'
import type { Import } from '#parts/imports/import-store.ts'
import { type Database, sql } from '#platform/database.ts'
import type { Vault } from '#platform/vault.ts'

export interface Site {
  db: Database
  storage: Storage
  vault: Vault
  /** The data folder. */
  data: string
  /** What may be connected to, as the setting has it. */
  addresses: string
  certificates: string | null
}

/** What a worker is to do for an import as it stands; `found` is whether its source was looked at in this run. */
export async function orderFor(site: Site, held: Import, folder: string, found: boolean): Promise<Order> {
  const common = await describe(site, held, folder)
  const { id, run, status, vcs, use_lfs, verify_all, repo_id } = held
  const target = site.storage.pathOf(repo_id)
  const corrections = () => site.db.transaction((transaction) => takeCorrections(transaction, { id, run }))
  if (status === 'complete') return { ...common, step: 'correct', target, authors: await corrections() }
  // Who names the kind themselves may err: it is looked at all the same.
  if (!vcs || status === 'detecting' || (status === 'importing' && !found)) return { ...common, step: 'detect', vcs }
  if (status === 'importing') return { ...common, step: 'import', vcs }
  if (status === 'mapping') return { ...common, step: 'map', vcs, use_lfs, verify_all, authors: await corrections() }
  return { ...common, step: 'push', vcs, target }
}

async function describe({ db, vault, data, addresses, certificates }: Site, held: Import, folder: string) {
  const { repo_id, vcs_url, svn_root, svn_ignore, tfvc_project } = held
  const repo = await db.first<{ default_branch: string }>(sql`select default_branch from repositories where id = ${repo_id}`)
  if (!repo) throw new ImportFailure('The repository is gone.')
  const origin = { url: vcs_url, ...readCredentials(vault, held), svn_root, svn_ignore, tfvc_project }
  return { origin, folder, default_branch: repo.default_branch, addresses, certificates, lfs_store: lfsRoot(data) }
}

function readCredentials(vault: Vault, held: Import) {
  try {
    return openCredentials(vault, held)
  } catch {
    // The key that they are sealed with has been replaced.
    throw new ImportFailure('The user name and password cannot be read any more: give them again.', 'auth')
  }
}
