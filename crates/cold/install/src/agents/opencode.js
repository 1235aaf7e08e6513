// Wyren in OpenCode: the team's memory, lessons before and after tool calls, and a record of the session.
// Every event runs a small program of the plugin, which answers as it would answer Claude Code. One that fails says nothing.

import { spawn } from "node:child_process"

const BIN = "/path/to/wyren/bin"

// The programs end by themselves before this.
const LIMIT_MS = 6000

function run(program, input) {
  return new Promise((resolve) => {
    let text = ""
    const done = () => {
      try {
        resolve(JSON.parse(text))
      } catch {
        resolve({})
      }
    }
    try {
      const child = spawn(`${BIN}/${program}`, ["--agent", "opencode"], {
        stdio: ["pipe", "pipe", "ignore"],
        timeout: LIMIT_MS,
        windowsHide: true,
      })
      child.on("error", done)
      child.on("close", done)
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (part) => (text += part))
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(input))
    } catch {
      done()
    }
  })
}

export const Wyren = async ({ client, directory }) => {
  // By id: a promise of { root, call, texts, prompt }.
  const sessions = new Map()
  // Sessions that began while this process ran.
  const created = new Set()
  // Calls whose end is known.
  const ended = new Set()

  // Runs programs for an event. Shows the user what is for them, and returns what is for the model.
  async function hooks(programs, input) {
    const answers = await Promise.all(programs.map((program) => run(program, input)))
    for (const { systemMessage } of answers) {
      if (systemMessage) client?.tui?.showToast?.({ body: { message: systemMessage, variant: "info" } })?.catch?.(() => {})
    }
    return answers.map((answer) => answer.hookSpecificOutput?.additionalContext).filter(Boolean)
  }

  async function start(session, source) {
    const input = { ...session.call, hook_event_name: "SessionStart", source }
    await run("session-start-reset", input)
    session.texts.push(...(await hooks(["session-start-lessons", "session-start-memory"], input)))
  }

  async function begin(id) {
    let parent
    try {
      parent = (await client.session.get({ path: { id } })).data?.parentID
    } catch {}
    const root = parent ? (await known(parent)).root : id
    const session = { root, call: { session_id: root, cwd: directory }, texts: [] }
    if (root === id) {
      await start(session, created.has(id) ? "startup" : "resume")
    } else {
      session.call.agent_id = id
      session.texts.push(...(await hooks(["subagent-start-lessons"], { ...session.call, hook_event_name: "SubagentStart" })))
    }
    return session
  }

  function known(id) {
    if (!sessions.has(id)) sessions.set(id, begin(id))
    return sessions.get(id)
  }

  async function toolCall(input, event) {
    const session = await known(input.sessionID)
    return {
      ...session.call,
      hook_event_name: event,
      prompt_id: session.prompt,
      tool_name: input.tool,
      tool_use_id: input.callID,
    }
  }

  return {
    "chat.message": async (input, output) => {
      const session = await known(input.sessionID)
      if (session.root === input.sessionID) {
        const typed = output.parts.filter((part) => part.type === "text" && !part.synthetic)
        session.prompt = output.message.id
        const call = {
          ...session.call,
          hook_event_name: "UserPromptSubmit",
          prompt_id: session.prompt,
          prompt: typed.map((part) => part.text).join("\n"),
        }
        session.texts.push(...(await hooks(["prompt-record", "prompt-sync"], call)))
      }
      const last = output.parts.at(-1)
      session.texts.splice(0).forEach((text, index) => {
        // Behind what was typed, in the order of ids.
        const id = `${last?.id ?? `prt_${output.message.id}`}w${index}`
        output.parts.push({
          id,
          sessionID: input.sessionID,
          messageID: output.message.id,
          type: "text",
          text,
          synthetic: true,
        })
      })
    },

    "tool.execute.before": async (input, output) => {
      const call = await toolCall(input, "PreToolUse")
      const { hookSpecificOutput: answer } = await run("lesson-inject", { ...call, tool_input: output.args })
      if (answer?.permissionDecision === "deny") {
        // A call that was refused has not failed.
        ended.add(input.callID)
        throw new Error(answer.permissionDecisionReason)
      }
    },

    "tool.execute.after": async (input, output) => {
      ended.add(input.callID)
      const call = await toolCall(input, "PostToolUse")
      const { output: text, metadata } = output
      const response = { output: text, metadata: { exit: metadata?.exit } }
      const texts = await hooks(["lesson-inject", "tool-record", "context-monitor"], {
        ...call,
        tool_input: input.args,
        tool_response: response,
      })
      if (typeof output.output === "string" && texts.length > 0) output.output = [output.output, ...texts].join("\n\n")
    },

    event: async ({ event: { type, properties } }) => {
      if (type === "session.created") {
        created.add(properties.info?.id)
      } else if (type === "message.part.updated") {
        const { part } = properties
        if (part?.type !== "tool" || part.state?.status !== "error" || ended.has(part.callID)) return
        ended.add(part.callID)
        const call = await toolCall({ ...part, callID: part.callID }, "PostToolUseFailure")
        await run("tool-record", { ...call, tool_input: part.state.input, error: String(part.state.error) })
      } else if (sessions.has(properties?.sessionID ?? properties?.info?.id)) {
        const id = properties.sessionID ?? properties.info.id
        const session = await known(id)
        if (session.root !== id) return
        if (type === "session.idle") {
          const call = { ...session.call, hook_event_name: "Stop", prompt_id: session.prompt }
          await hooks(["stop-distill", "stop-summary"], call)
        }
        if (type === "session.compacted") await start(session, "compact")
        if (type === "session.deleted") {
          sessions.delete(id)
          await run("session-end", { ...session.call, hook_event_name: "SessionEnd", reason: "other" })
        }
      }
    },
  }
}
