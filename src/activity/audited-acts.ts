/**
 * Every act of the audit log: those that change who may do what, what exists, or the server itself. An act that is published (`acts.ts`) is recorded if
 * it is listed here; other acts call `recordAudit` in their transaction. `test/audit.test.ts` finds changes of rights that are not recorded.
 */
export const auditedActs = [
  // Published in a repository.
  ...[
    'repo.deleted',
    'repo.renamed',
    'repo.archived',
    'repo.unarchived',
    'repo.privatized',
    'repo.publicized',
    'repo.transferred',
  ],
  ...['transfer.offered', 'member.accepted', 'member.added', 'member.edited', 'member.removed'],
  ...['protection.created', 'protection.edited', 'protection.deleted', 'deploy_key.created', 'deploy_key.deleted'],
  // Published in an organization.
  ...['organization.member_added', 'organization.member_invited', 'organization.member_removed'],
  ...['team.created', 'team.edited', 'team.deleted', 'team.member_added', 'team.member_removed', 'team.added_to_repository'],
  ...['team.access_edited', 'team.removed_from_repository', 'member.removed_with_membership', 'member.added_by_conversion'],
  // Recorded only.
  ...[
    'repo.change_forking',
    'protection.move',
    'team.change_role',
    'org.change_role',
    'org.change_default_permission',
    'org.change_forking',
  ],
  ...['token.create', 'token.update', 'token.delete', 'token.revoke', 'token.revoke_all', 'feed_key.create', 'feed_key.delete'],
  ...['oauth.authorize', 'oauth.revoke', 'oauth.reset_token', 'oauth.delete_token'],
  ...['application.create', 'application.update', 'application.rotate_secret', 'application.delete'],
  ...['app.create', 'app.change_access', 'app.change_hook', 'app.add_key', 'app.delete_key', 'app.delete'],
  ...['installation.create', 'installation.change_repositories', 'installation.accept_permissions', 'installation.suspend'],
  ...['installation.unsuspend', 'installation.delete', 'ssh_key.create', 'ssh_key.delete'],
  ...['hook.create', 'hook.update', 'hook.delete', 'hook.replay', 'hook.resume_restored'],
  ...[
    'user.create',
    'user.delete',
    'user.rename',
    'user.promote',
    'user.demote',
    'user.suspend',
    'user.unsuspend',
    'user.export',
  ],
  ...['user.impersonate', 'user.end_impersonation', 'user.change_password', 'user.reset_password'],
  ...['user.enable_two_factor', 'user.disable_two_factor', 'user.renew_recovery_codes'],
  ...['org.create', 'org.delete', 'org.rename', 'org.suspend', 'org.unsuspend', 'org.add_owner'],
  ...['import.cancel', 'import.restart', 'job.retry', 'job.discard'],
  ...[
    'site.backup',
    'site.restore',
    'site.silence',
    'site.doctor_fix',
    'site.maintenance_on',
    'site.maintenance_off',
    'site.rotate_keys',
  ],
] as const

export type AuditAction = (typeof auditedActs)[number]

const known: ReadonlySet<string> = new Set(auditedActs)
export const isAudited = (act: string): act is AuditAction => known.has(act)
