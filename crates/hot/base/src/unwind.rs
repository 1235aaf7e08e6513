//! No unwinding and no backtraces in what ships.
//!
//! What ships aborts on panic, is stripped, and says where it panicked without a backtrace. The standard library links
//! an unwinder and a reader of debug information all the same, a fifth of a megabyte that starts at `_Unwind_Backtrace`.
//! With these functions in place of the unwinder's, the linker finds no way to either. A standard library that
//! needs one more of them does not link.

#![expect(unsafe_code, reason = "takes the place of functions of the C runtime")]

use std::ffi::{c_int, c_void};

/// `_URC_END_OF_STACK`: there is no frame to look at.
const END_OF_STACK: c_int = 5;

// SAFETY: the name and the signature are those of the unwinder, which is not linked beside this.
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Backtrace(_each: *const c_void, _argument: *mut c_void) -> c_int {
    END_OF_STACK
}

/// Defines functions that only a panic which unwinds would call.
macro_rules! never_called {
    ($($name:ident)*) => {
        $(
            // SAFETY: the name is the unwinder's, which is not linked beside this; a call ends the program.
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> ! {
                std::process::abort()
            }
        )*
    };
}

never_called! {
    _Unwind_DeleteException
    _Unwind_FindEnclosingFunction
    _Unwind_GetCFA
    _Unwind_GetDataRelBase
    _Unwind_GetIP
    _Unwind_GetIPInfo
    _Unwind_GetLanguageSpecificData
    _Unwind_GetRegionStart
    _Unwind_GetTextRelBase
    _Unwind_RaiseException
    _Unwind_Resume
    _Unwind_SetGR
    _Unwind_SetIP
}
