import { type Answer, Skip } from '../answer.ts'
import type { Context } from '../check.ts'
import { sourceImport } from '../resources.ts'
import type { Repo } from '../workspace.ts'

/** An empty repository, if the server still serves imports. */
export async function emptyRepo(context: Context): Promise<Repo> {
  await context.workspace.once('imports', async () => {
    const { status } = await context.me.get(`${(await context.workspace.shared()).path}/import`)
    if (status === 410) throw new Skip('Source imports are closed on this server.')
    if (status === 503) throw new Skip('Source imports are under maintenance on this server.')
    if (status === 403) throw new Skip('The token of --token cannot authenticate imports: give a classic personal token.')
  })
  return context.workspace.repo({ auto_init: false })
}

/** A repository of the server itself is the source, because the server surely reaches it. */
export async function startImport(context: Context, fields: object = {}): Promise<{ path: string; answer: Answer; repo: Repo }> {
  const repo = await emptyRepo(context)
  const source = await context.workspace.shared()
  const path = `${repo.path}/import`
  const answer = await context.me.put(path, { vcs: 'git', vcs_url: source.row.clone_url, ...fields })
  if (answer.status === 422 && /address|reach|allow/i.test(answer.text))
    throw new Skip(`The server refuses to import from itself: ${answer.text.slice(0, 200)}`)
  return { path, answer: answer.is(201).matches(sourceImport), repo }
}

const ended = ['complete', 'error', 'auth_failed', 'detection_needs_auth', 'detection_found_nothing', 'detection_found_multiple']

/** Waits for the end of an import. */
export const finished = (context: Context, path: string) =>
  context.me.until(
    path,
    'an import that ends',
    (answer) => ended.includes(`${answer.is(200).matches(sourceImport).row().status}`),
    40_000,
  )

/** One complete import for the checks that read it. */
export const complete = (context: Context) =>
  context.workspace.once('complete import', async () => {
    const { path, repo } = await startImport(context)
    const answer = await finished(context, path)
    return { path, repo, answer: answer.equals('status', answer.row().status, 'complete') }
  })
