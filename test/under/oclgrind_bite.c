// A kernel that writes past its buffer, stores what was never written and races, through a loader opened at run
// time as weft opens it. tools/check-under runs it first: where Oclgrind does not report all three, an empty log of
// the real tests would mean nothing.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>

// p_<name> is the function <name> of the loader.
#define WF_LOAD(name) __typeof__(&name) p_##name = (__typeof__(&name))dlsym(loader, #name)

int main(void)
{
    void *loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!loader) {
        (void)fprintf(stderr, "oclgrind_bite: no libOpenCL.so.1\n");
        return 1;
    }
    WF_LOAD(clGetPlatformIDs);
    WF_LOAD(clGetDeviceIDs);
    WF_LOAD(clCreateContext);
    WF_LOAD(clCreateCommandQueue);
    WF_LOAD(clCreateProgramWithSource);
    WF_LOAD(clBuildProgram);
    WF_LOAD(clCreateKernel);
    WF_LOAD(clCreateBuffer);
    WF_LOAD(clSetKernelArg);
    WF_LOAD(clEnqueueNDRangeKernel);
    WF_LOAD(clFinish);

    cl_platform_id platform;
    cl_device_id device;
    if (p_clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        p_clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
        (void)fprintf(stderr, "oclgrind_bite: no device\n");
        return 1;
    }
    const char *text = "kernel void bite(global int *a)"
                       "{"
                       "    local int never[8];"
                       "    const int i = get_global_id(0);"
                       "    a[i] = never[i];"
                       "    a[0] = i;"
                       "}";
    const size_t n = 8; // the buffer holds four
    cl_context context = p_clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = p_clCreateCommandQueue(context, device, 0, NULL);
    cl_program program = p_clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    (void)p_clBuildProgram(program, 1, &device, "", NULL, NULL);
    cl_kernel kernel = p_clCreateKernel(program, "bite", NULL);
    cl_mem buffer = p_clCreateBuffer(context, CL_MEM_READ_WRITE, 4 * sizeof(cl_int), NULL, NULL);
    (void)p_clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    (void)p_clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL);
    return p_clFinish(queue) == CL_SUCCESS ? 0 : 1;
}
