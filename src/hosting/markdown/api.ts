import { renderAll } from '#hosting/mentions/rendering.ts'
import { loadRepository } from '#hosting/repositories/repositories.ts'
import { type BaseContext, group, post } from '#http/endpoint.ts'
import { Represented } from '#http/media.ts'
import { Moved } from '#http/moved.ts'
import { readBounded } from '#http/raw-body.ts'
import type { Database } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { Type } from '#platform/schema.ts'

/** The documented limit, in bytes. */
const longestText = 400_000

const rendering = {
  permission: 'any',
  viewer: 'optional',
  own_transaction: true,
  media: ['text/html'],
  answers: { 200: Type.String() },
} as const

async function render(
  { db, caller, wire }: BaseContext & { db: Database },
  text: string,
  repo?: { owner_login: string; name: string },
) {
  const [markup] = await renderAll({ db, viewer: caller, repo, web: wire.web }, [text])
  return new Represented('text/html', markup?.text ?? '')
}

function unlessHidden(error: unknown): undefined {
  if (!(error instanceof Refusal || error instanceof Moved)) throw error
}

export const api = group('Markdown', [
  post(
    '/markdown',
    {
      ...rendering,
      operation: 'markdown/render',
      summary: 'Render Markdown as HTML; with the mode gfm and a context, names and numbers become links',
      body: Type.Object({
        text: Type.String({ maxLength: longestText }),
        mode: Type.Optional(Type.Unsafe<'markdown' | 'gfm'>({ type: 'string', enum: ['markdown', 'gfm'] })),
        context: Type.Optional(Type.String()),
      }),
    },
    async (request) => {
      const { db, caller, body } = request
      const [owner = '', name = ''] = body.mode === 'gfm' ? (body.context ?? '').split('/') : []
      // A context that the caller cannot see links nothing, like a missing one.
      const repo = owner && name ? await loadRepository(db, caller, owner, name).catch(unlessHidden) : undefined
      return render(request, body.text, repo)
    },
  ),
  post(
    '/markdown/raw',
    {
      ...rendering,
      operation: 'markdown/render-raw',
      summary: 'Render the body of the request as HTML',
      raw_body: true,
      refuses: ['too_large'],
    },
    async (request) => render(request, await readBounded(request.body.content, longestText)),
  ),
])
