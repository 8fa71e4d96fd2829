import type { Facts } from '#activity/facts.ts'
import { checkRunJson, headCommitJson, plainSuiteJson } from '#hosting/checks/json.ts'
import { mustGet, type PayloadContext, unaddressed as wire } from './payload-context.ts'

export function checkRunPayload({ check_run_id, check_suite_id }: Partial<Facts>, { repo, records }: PayloadContext) {
  const check_suite = plainSuiteJson(mustGet(records.check_suites, check_suite_id), repo, wire)
  return { check_run: { ...checkRunJson(mustGet(records.check_runs, check_run_id), repo, wire), check_suite } }
}

export function checkSuitePayload({ check_suite_id, commit }: Partial<Facts>, { repo, records }: PayloadContext) {
  const suite = mustGet(records.check_suites, check_suite_id)
  return { check_suite: { ...plainSuiteJson(suite, repo, wire), head_commit: headCommitJson(suite, commit) } }
}
