import type { Facts } from '#activity/facts.ts'
import { deploymentJson, deploymentStatusJson } from '#hosting/deployments/json.ts'
import { mustGet, type PayloadContext, unaddressed as wire } from './payload-context.ts'

/** Deployments here are not made by workflows. */
const noWorkflow = { workflow: null, workflow_run: null }

export function deploymentPayload({ deployment_id }: Partial<Facts>, { repo, records }: PayloadContext) {
  return { deployment: deploymentJson(mustGet(records.deployments, deployment_id), repo, wire), ...noWorkflow }
}

export function deploymentStatusPayload(facts: Partial<Facts>, { repo, records }: PayloadContext) {
  const { environment_url, log_url, ...status } = deploymentStatusJson(
    mustGet(records.deployment_statuses, facts.deployment_status_id),
    repo,
    wire,
  )
  // Receivers expect addresses where these are set.
  const addresses = { ...(environment_url && { environment_url }), ...(log_url && { log_url }) }
  const deployment = deploymentJson(mustGet(records.deployments, facts.deployment_id), repo, wire)
  return { deployment_status: { ...status, ...addresses }, deployment }
}
