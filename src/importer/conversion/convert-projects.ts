import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Part } from '#importer/source.ts'
import { compactStage } from '#importer/staging/compact.ts'
import { type Conversion, openSteps, publishRefs } from './convert-repository.ts'
import { checkUntouched, listTargets, openTarget, workFolderOf } from './target.ts'

export interface ProjectsConversion extends Omit<Conversion, 'lfs_store'> {
  /** Called after each project, in order. */
  onProject(project: ConvertedProject): void
}

export type ConvertedProject = Part & { target: string } & (
    | Awaited<ReturnType<typeof publishRefs>>
    /** Nothing was written for a project that no longer exists. */
    | { gone: true }
  )

/**
 * Converts each project of a Subversion repository into a bare repository of its own, in the folder `target`. The history is read once, into
 * `folder`. Run again, it resumes, or brings what is new to each of them.
 */
export async function convertProjects(conversion: ProjectsConversion) {
  const { target: out, folder, default_branch, signal, keep_stage = false, correct = () => [], onProject } = conversion
  const steps = await openSteps({ ...conversion, lfs_store: join(folder, 'lfs') })
  const { run, vcs, source, authors } = steps
  for (const path of await listTargets(out)) await checkUntouched(path, workFolderOf(path), { vcs, source })
  const { commit_count, notes, remarks, parts = [] } = await run({ step: 'import', vcs, extend: true })
  const corrections = correct([...authors.values()])
  const targets: string[] = []
  for (const part of parts) {
    const target = join(out, `${part.name}.git`)
    if (part.gone) {
      onProject({ ...part, gone: true, target })
      continue
    }
    // An empty project gets a repository. If everything belongs to a project, there is none for the rest.
    if (part.rest && part.empty && !existsSync(target)) continue
    await using opened = await openTarget(target, default_branch)
    await checkUntouched(target, opened.folder, { vcs, source })
    const own = { folder: opened.folder, lfs_store: join(target, 'lfs', 'objects') }
    const published = await publishRefs(
      { ...conversion, ...own, target, keep_stage: false },
      steps.ofPart({ ...own, part: part.name }),
      corrections,
    )
    targets.push(target)
    onProject({ ...part, target, ...published })
  }
  if (keep_stage) await compactStage(join(folder, 'stage.git'), targets, signal)
  return { vcs, commit_count, notes, remarks, authors: [...authors.values()] }
}

/** Deletes the checkpoints of all projects. */
export async function removeWork(target: string) {
  for (const path of [target, ...(await listTargets(target))]) await rm(workFolderOf(path), { recursive: true, force: true })
}
