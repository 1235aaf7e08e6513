//! MCP itself: the official SDK on one side, [`Desk`] on the other.

use crate::desk::Desk;
use crate::resources;
use crate::tools::{INSTRUCTIONS, Shape, TOOLS, Tool, called};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult,
    ErrorCode, ErrorData, Implementation, JsonObject, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ServerCapabilities, ServerConfig, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Map, json};
use std::io;

const MARKDOWN: &str = "text/markdown";

/// Serves the client on standard input and output until it closes them.
pub fn serve(desk: Desk) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        // A client that speaks before it introduces itself is gone, too: there is nothing to answer it on.
        if let Ok(service) = Server(desk).serve(rmcp::transport::io::stdio_pipes()).await {
            let _ = service.waiting().await;
        }
    });
    // A read of standard input may still be waiting on another thread.
    runtime.shutdown_background();
    Ok(())
}

struct Server(Desk);

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("wyren", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.iter().map(listed).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = called(&request.name) else {
            let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
            let name = text::sanitize::one_line(&request.name, 60);
            return Err(ErrorData::invalid_params(
                format!("there is no tool {name:?}; the tools are {}", names.join(", ")),
                None,
            ));
        };
        let arguments: Map<_, _> = request.arguments.unwrap_or_default();
        Ok(match self.0.call(tool, &arguments) {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(refusal) => CallToolResult::error(vec![ContentBlock::text(refusal)]),
        }
        .into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = resources::LISTED.iter().map(|resource| {
            Resource::new(resource.uri, resource.name)
                .with_description(resource.about)
                .with_mime_type(MARKDOWN)
        });
        Ok(ListResourcesResult::with_all_items(listed.collect()))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(unread(&request.method))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match resources::read(&self.0, &request.uri) {
            Some(Ok(text)) => {
                let contents = ResourceContents::text(text, request.uri).with_mime_type(MARKDOWN);
                Ok(ReadResourceResult::new(vec![contents]).into())
            }
            Some(Err(refusal)) => Err(ErrorData::internal_error(refusal, None)),
            None => {
                let uri = text::sanitize::one_line(&request.uri, 100);
                Err(ErrorData::resource_not_found(format!("there is no resource {uri:?}"), None))
            }
        }
    }
}

/// Refuses a request that the SDK knows by no form: one of a method that is served has other parameters than it takes.
fn unread(method: &str) -> ErrorData {
    let form = match method {
        "tools/call" => "`name`, a text, and `arguments`, an object",
        "resources/read" => "`uri`, a text",
        _ => {
            let method = text::sanitize::one_line(method, 60);
            return ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None);
        }
    };
    ErrorData::invalid_params(format!("the parameters of {method} are {form}"), None)
}

fn listed(tool: &Tool) -> rmcp::model::Tool {
    let properties: Map<_, _> = tool
        .parameters
        .iter()
        .map(|parameter| {
            let mut schema = match parameter.shape {
                Shape::Text => json!({"type": "string"}),
                Shape::Number => json!({"type": "integer"}),
                Shape::Flag => json!({"type": "boolean"}),
                Shape::List => json!({"type": "array", "items": {"type": "string"}}),
            };
            schema["description"] = json!(parameter.about);
            (parameter.name.to_owned(), schema)
        })
        .collect();
    let required: Vec<&str> = tool
        .parameters
        .iter()
        .filter(|parameter| parameter.is_required)
        .map(|parameter| parameter.name)
        .collect();
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let schema: JsonObject = schema.as_object().cloned().unwrap_or_default();
    // A note that is kept twice is there twice; everything else may be called again.
    let is_idempotent = tool.name != "remember";
    let hints =
        ToolAnnotations::from_raw(None, Some(tool.only_reads), Some(false), Some(is_idempotent), Some(false));
    rmcp::model::Tool::new(tool.name, tool.about, schema).with_annotations(hints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_with_other_parameters_says_which_there_are() {
        for (method, code) in [
            ("tools/call", ErrorCode::INVALID_PARAMS),
            ("resources/read", ErrorCode::INVALID_PARAMS),
            ("no/such", ErrorCode::METHOD_NOT_FOUND),
        ] {
            assert_eq!(unread(method).code, code, "{method}");
        }
        assert!(unread("tools/call").message.contains("`arguments`, an object"));
    }
}
