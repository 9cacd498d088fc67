/**
 * Lines in which exo prints a request, as an extended regular expression for awk and for JavaScript. What it is started
 * through lets none of them into a log; logs of an older meshwright have them.
 *
 * @see exo: master/main.py, worker/runner/runner.py, worker/runner/supervisor.py, llm_inference/model_output_parsers.py
 */
export const requestPattern =
  'Executing command: |received chat request: |Starting task |Skipping invalid task |Task .* dropped, runner closed|tool_call_text_parts=|tool call parsing failed|yielding tool call: ';
