import { type AuditEntry, readAuditPage } from '#activity/audit.ts'
import { Answer, get, group } from '#http/endpoint.ts'
import { choice, text } from '#http/input.ts'
import { missing, Refusal } from '#platform/errors.ts'
import { type Static, Type } from '#platform/schema.ts'
import { readPhrase } from './audit-phrase.ts'

const AuditLogEvent = Type.Object(
  {
    '@timestamp': Type.Integer(),
    _document_id: Type.String(),
    action: Type.String(),
    actor: Type.String(),
    actor_id: Type.Optional(Type.Integer()),
    created_at: Type.Integer(),
    data: Type.Object({ subject: Type.String(), via: Type.Optional(Type.String()) }),
    repo: Type.Optional(Type.String()),
    user: Type.Optional(Type.String()),
  },
  { title: 'AuditLogEvent' },
)

/** The name of this server, where the public API has the name of an enterprise. */
const enterprise = 'belfry'

export const api = group('Audit log', [
  get(
    '/enterprises/{enterprise}/audit-log',
    {
      permission: 'classic',
      scopes: ['site_admin'],
      viewer: 'site_admin',
      operation: 'enterprise-admin/get-audit-log',
      summary: 'The audit log of this server, whose enterprise is `belfry`',
      refuses: ['malformed', 'invalid'],
      query: {
        phrase: text('Words, and any of `actor:LOGIN`, `action:user.suspend` (or `action:user`) and `created:>=2026-01-31`.'),
        include: choice('web', 'git', 'all'),
        after: text('Entries after this one, as the `Link` header gives it.'),
        before: text('Entries before this one, as the `Link` header gives it.'),
        order: choice('desc', 'asc'),
      },
      list: 'by cursor',
      answers: { 200: Type.Array(AuditLogEvent) },
    },
    async ({ db, params, query, page }) => {
      if (params.enterprise.toLowerCase() !== enterprise) throw missing()
      const [after, before] = [readCursor('after', query.after), readCursor('before', query.before)]
      if (after !== undefined && before !== undefined) throw new Refusal('malformed', 'Send either after or before.')
      const filter = readPhrase(query.phrase)
      // Fetches and pushes are not recorded.
      if (query.include === 'git') return []
      const { rows, prev, next } = await readAuditPage(db, filter, { after, before, limit: page.limit, order: query.order })
      const cursors = { prev: prev?.toString(), next: next?.toString(), parameter: { prev: 'before', next: 'after' } }
      return new Answer(rows.map(auditJson), { cursors })
    },
  ),
])

/** The id of an entry, of at most 15 digits. */
function readCursor(name: string, text: string): number | undefined {
  if (text === '') return undefined
  if (!/^\d{1,15}$/.test(text))
    throw new Refusal('malformed', `The cursor in ${name} is not valid. Take it from the Link header.`)
  return Number(text)
}

function auditJson({ id, at, actor_id, actor_login, action, subject, via }: AuditEntry): Static<typeof AuditLogEvent> {
  const [repo] = /^[\w.-]+\/[\w.-]+(?=$|: )/.exec(subject) ?? []
  return {
    '@timestamp': at.getTime(),
    _document_id: String(id),
    action,
    actor: actor_login,
    ...(actor_id !== null && { actor_id }),
    created_at: at.getTime(),
    data: { subject, ...(via && { via }) },
    ...(action.startsWith('user.') && { user: subject }),
    ...(repo && { repo }),
  }
}
