import { rm } from 'node:fs/promises'
import { type Running, runStep } from '#importer/convert.ts'
import { type Author, ImportFailure, type Kind, type Origin, type Preview } from '#importer/source.ts'
import type { Correction, MapOptions, Order, Result, StepContext } from '#importer/steps.ts'
import { draftsOf } from '#platform/file-store/folder.ts'
import { checkUntouched, type Moved, moveRefs } from './target.ts'

export interface Detection extends StepContext, Running {
  /** Detected if null. */
  vcs: Kind | null
  /** Called when the kind is known. May throw. */
  onDetect?(vcs: Kind): void
}

export interface Conversion extends Detection, MapOptions {
  use_lfs: 'opt_in' | 'opt_out' | 'keep'
  verify_all: boolean
  /** A bare repository on the same disk as `folder`: empty, or as an earlier conversion from the same source has left it. */
  target: string
  /** The address of the source for people, if `origin.url` leads to a server that was started for the conversion. */
  source?: string
  /** Whether a later run will bring what is new, so that the stage should be small. */
  keep_stage?: boolean
  /** Asked when all authors are known. */
  correct?(authors: Author[]): Correction[]
  onStep?(step: Order['step']): void
}

/**
 * Converts a repository as a whole, without a server: detects its kind, imports and maps it, and publishes it into `target`. Run again, it
 * resumes, or brings what is new in the source.
 */
export async function convertRepository(conversion: Conversion) {
  const { target, folder, correct = () => [] } = conversion
  const steps = await openSteps(conversion)
  const { run, vcs, source, authors } = steps
  await checkUntouched(target, folder, { vcs, source })
  const { commit_count } = await run({ step: 'import', vcs, extend: true })
  const published = await publishRefs(conversion, steps, correct([...authors.values()]))
  if (published.nothing_left)
    throw new ImportFailure(
      'No branch is left with these --include, --exclude and --since, so nothing was written. Give others, and look at the paths with --dry-run.',
    )
  return { vcs, commit_count, authors: [...authors.values()], ...published }
}

/** Makes the branches and tags of what was imported, compares them with the source, and publishes them into `target`. */
export async function publishRefs(conversion: Conversion, { run, vcs, source }: Steps, authors: Correction[]) {
  const { target, folder, lfs_store, use_lfs, large_over, edits, verify_all, keep_stage = false } = conversion
  const mapping = { use_lfs, ...(large_over !== undefined && { large_over }), ...(edits && { edits }) }
  const mapped = await run({ step: 'map', vcs, ...mapping, authors, verify_all })
  if ('waits_for_lfs' in mapped) throw new Error('a conversion does not wait')
  const isEdited = edits !== undefined && (edits.include.length > 0 || edits.exclude.length > 0 || edits.since !== null)
  const { refs, default_branch } = await run({ step: 'push', vcs, target, keep_originals: false, keep_stage })
  const isBranch = (ref: string) => ref.startsWith('refs/heads/')
  const nothing_left = isEdited && mapped.dropped.some(isBranch) && !Object.keys(refs).some(isBranch)
  const moved = nothing_left ? noMoves : await moveRefs(target, folder, { refs, default_branch, vcs, source })
  await rm(draftsOf(lfs_store), { recursive: true, force: true })
  const { notes, remarks, left_out, verification, large_files, dropped } = mapped
  const result = { refs: nothing_left ? {} : refs, default_branch, moved, notes, remarks, nothing_left }
  return { ...result, left_out, verification, large_files, dropped }
}

const noMoves: Moved = { created: [], updated: [], removed: [], commits: 0, rewritten: false }

/**
 * What would become a branch or a tag, and what would be left out. A source that cannot tell without its contents is read; what was read stays
 * in the folder, and a conversion starts from it.
 */
export async function previewRepository(
  conversion: Pick<Conversion, keyof Detection | 'onStep' | 'source'>,
): Promise<RepositoryPreview> {
  const { run, vcs } = await openSteps(conversion)
  const { preview } = await run({ step: 'preview', vcs })
  if (preview) return { vcs, ...preview }
  const { commit_count } = await run({ step: 'import', vcs, extend: true })
  const { refs, left_out } = await run({ step: 'arrange', vcs })
  const named = (prefix: string) =>
    Object.keys(refs).flatMap((ref) => (ref.startsWith(prefix) ? [{ name: ref.slice(prefix.length), path: null }] : []))
  return { vcs, commit_count, branches: named('refs/heads/'), tags: named('refs/tags/'), left_out }
}

/** Branches of a source that was read have no paths. */
export interface RepositoryPreview extends Omit<Preview, 'branches' | 'tags'> {
  vcs: Kind
  branches: { name: string; path: string | null }[]
  tags: { name: string; path: string | null }[]
}

/** The authors of a source, before the long work. */
export async function listSourceAuthors(detection: Detection): Promise<Author[]> {
  const { run, vcs } = await openSteps(detection)
  return (await run({ step: 'authors', vcs })).authors
}

/** An order without the context that all have in common. */
type OwnOrder<One = Order> = One extends Order ? Omit<One, keyof StepContext> : never

/** Detects the source, and runs its steps one after the other. */
export async function openSteps(detection: Pick<Conversion, keyof Detection | 'onStep' | 'source'>) {
  const { origin: given, folder, default_branch, addresses, certificates, lfs_store, signal, onStep } = detection
  const authors = new Map<string, Author>()
  const context: StepContext = { origin: given, folder, default_branch, addresses, certificates, lfs_store }
  const running: Running = {
    signal,
    onProgress(progress) {
      for (const author of progress.authors ?? []) authors.set(author.remote_id, author)
      detection.onProgress(progress)
    },
  }
  const { vcs, commit_count: _, ...found } = await detectOne({ ...context, step: 'detect', vcs: detection.vcs }, running)
  detection.onDetect?.(vcs)
  const origin: Origin = { ...given, ...found }

  const stepsIn = (context: StepContext) => ({
    async run<One extends OwnOrder>(own: One) {
      onStep?.(own.step)
      const result = await runStep({ ...context, origin, ...own }, running)
      if (result.step !== own.step) throw new Error(`the step ${own.step} has no result`)
      return result as Extract<Result, { step: One['step'] }>
    },
    vcs,
    authors,
    source: detection.source ?? given.url,
  })
  return {
    ...stepsIn(context),
    /** The steps of one of the parts that share what was read. */
    ofPart: (part: Pick<StepContext, 'folder' | 'lfs_store'> & { part: string }) =>
      stepsIn({ ...context, history: folder, ...part }),
  }
}

/** Runs steps one after the other. */
export type Steps = Omit<Awaited<ReturnType<typeof openSteps>>, 'ofPart'>

async function detectOne(order: Extract<Order, { step: 'detect' }>, running: Running) {
  const result = await runStep(order, running)
  if ('found' in result) return result.found
  if ('found_multiple' in result) {
    const names = result.found_multiple.map(({ svn_root, tfvc_project, human_name }) => svn_root ?? tfvc_project ?? human_name)
    throw new ImportFailure(
      `Several projects are at this address. Convert each into a repository of its own with --projects, or choose one of them with --project: ${names.join(', ')}.`,
    )
  }
  if ('needs_auth' in result)
    throw new ImportFailure(
      order.origin.password === null
        ? 'The source asks for a user name and a password.'
        : 'The source does not accept this user name and password, or this account may not read it.',
      'auth',
    )
  throw new ImportFailure('There is no repository at this address that can be imported.')
}
