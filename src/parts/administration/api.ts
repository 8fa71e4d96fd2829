import { type AuditEntry, listAudit } from '#activity/audit.ts'
import { get, group, listOf, paged } from '#http/endpoint.ts'
import { choice, text } from '#http/input.ts'
import { missing } from '#platform/errors.ts'
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
      query: { phrase: text(), include: choice('web', 'git', 'all'), order: choice('desc', 'asc') },
      ...listOf(AuditLogEvent),
    },
    async ({ db, params, query, page }) => {
      if (params.enterprise.toLowerCase() !== enterprise) throw missing()
      // Fetches and pushes are not recorded.
      if (query.include === 'git') return paged({ rows: [], total: 0 }, auditJson)
      return paged(await listAudit(db, readPhrase(query.phrase), page, query.order), auditJson)
    },
  ),
])

function auditJson({ id, at, actor_id, actor_login, action, subject, via }: AuditEntry): Static<typeof AuditLogEvent> {
  return {
    '@timestamp': at.getTime(),
    _document_id: String(id),
    action,
    actor: actor_login,
    ...(actor_id !== null && { actor_id }),
    created_at: at.getTime(),
    data: { subject, ...(via && { via }) },
    ...(action.startsWith('user.') && { user: subject }),
    ...(subject.includes('/') && { repo: subject }),
  }
}
